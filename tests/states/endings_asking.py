"""Endings that ask for a decision which is needed to go on."""

from tests.states.ending import Ending

ASKING = [
    Ending(
        "I looked at the options.\n\nShould I use SQLite or Postgres for the cache?", "Should I use SQLite or Postgres"
    ),
    Ending("Should refresh tokens live 7 or 30 days?", "7 or 30 days?"),
    Ending("The retry helper is used in two places. Delete it, or keep it behind a flag?", "Delete it, or keep it"),
    Ending(
        "There are two ways to do this.\n\nWhich option do you prefer?\n\n1. Patch the parser in "
        "place\n2. Write a new one",
        "Which option do you prefer?",
        ("Patch the parser in place", "Write a new one"),
    ),
    Ending(
        "Options:\n\n1. **SQLite** — no server, one file\n2. **Postgres** — scales, needs a "
        "server\n\nWhich one should I go with?",
        "Which one should I go with?",
        ("SQLite — no server, one file", "Postgres — scales, needs a server"),
    ),
    Ending(
        "How should the CLI behave on a missing file?\n\n- exit with an error\n- create it\n- ask each time",
        "How should the CLI behave",
        ("exit with an error", "create it", "ask each time"),
    ),
    Ending(
        "Which database would you like?\n\n**Option A:** SQLite\n**Option B:** Postgres\n\nI recommend "
        "Option A because the data set is small.",
        "Which database would you like?",
        ("Option A: SQLite", "Option B: Postgres"),
    ),
    Ending("I've read the migration. **Should I proceed?**", "Should I proceed?"),
    Ending("The plan is above.\n\nShall I go ahead?", "Shall I go ahead?"),
    Ending(
        "Here's the plan:\n\n1. Drop the table\n2. Recreate it\n\nDo you want me to continue?",
        "Do you want me to continue?",
    ),
    Ending(
        "Here is my plan:\n- rename the module\n- update imports\n\nLet me know if you'd like me to proceed.", "proceed"
    ),
    Ending(
        "This will delete 214 files under `build/`. Please confirm before I continue.",
        "Please confirm before I continue.",
    ),
    Ending("Please confirm that the staging URL is correct.", "Please confirm that the staging URL"),
    Ending("Please confirm:\n\n```\nrm -rf build/\n```", "Please confirm"),
    Ending(
        "I need your input on the schema: one table per tenant, or a shared one.", "I need your input on the schema"
    ),
    Ending("I need your approval to run the migration against production.", "I need your approval"),
    Ending("I need you to tell me the API key's scope before I can go further.", "I need you to tell me"),
    Ending("Let me know how you'd like to proceed.", "how you'd like to proceed"),
    Ending("The test can be deleted or rewritten. Let me know which you prefer.", "Let me know which you prefer."),
    Ending("Please let me know whether to drop the column or keep it.", "whether to drop the column"),
    Ending(
        "Could you share the contents of `config/prod.yml`? I don't have access to it.", "Could you share the contents"
    ),
    Ending("I can't find the spec. Can you tell me where it lives?", "where it lives?"),
    Ending("What is the expected behaviour when the list is empty?", "expected behaviour"),
    Ending("The build needs a token that isn't set. What's the value of NPM_TOKEN?", "What's the value of NPM_TOKEN?"),
    Ending("Which branch should this go to?", "Which branch"),
    Ending("Is it okay to force-push to `release/2.1`?", "Is it okay to force-push"),
    Ending("Tests pass on main but the branch is behind. Should I rebase or merge?", "Should I rebase or merge?"),
    Ending("I've finished phase 1. Shall I proceed with phase 2?", "Shall I proceed with phase 2?"),
    Ending("I've completed the analysis. Would you like me to go ahead with the fix?", "go ahead with the fix?"),
    Ending("I found three dead modules. Would you like me to delete them?", "Would you like me to delete them?"),
    Ending(
        "Would you like me to apply this patch?\n\n```diff\n- a = 1\n+ a = 2\n```",
        "Would you like me to apply this patch?",
    ),
    Ending("Do you want the strict mode or the lenient mode?", "strict mode or the lenient mode?"),
    Ending(
        "I can't proceed without credentials for the registry. Please provide a token with read access.",
        "Please provide a token",
    ),
    Ending("I cannot continue until the licence question is settled.", "I cannot continue until"),
    Ending("I'm waiting for your decision on the name.", "waiting for your decision"),
    Ending("Either approach works. Your call.", "Your call."),
    Ending("Both are fine: keep the alias or drop it — it's up to you.", "up to you"),
    Ending(
        "Before I start, two questions:\n\n1. Should the limit be per user or per IP?\n2. What should "
        "happen when it is hit?",
        "Should the limit be per user or per IP?",
    ),
    Ending(
        "**Open questions**\n\n- Should tokens be revoked on logout?\n- Which service owns the schema?",
        "Which service owns the schema?",
    ),
    Ending(
        "I need a decision before I touch this. Which of the two parsers do you want to keep?\n\n- "
        "`parser_v1`\n- `parser_v2`",
        "Which of the two parsers",
        ("parser_v1", "parser_v2"),
    ),
    Ending("The migration is irreversible. Do you want to continue? (y/n)", "Do you want to continue?", ("yes", "no")),
    Ending("Choose one:\n\n1. Retry\n2. Skip\n3. Abort", "Choose one:", ("Retry", "Skip", "Abort")),
    Ending("Please pick one of the following:\na) keep\nb) drop", "Please pick one", ("keep", "drop")),
    Ending("I'll rename `User` to `Account` everywhere, including the table. Sounds good?", "I'll rename"),
    Ending("I would drop Python 3.9 support and bump the major version. Is that OK?", "drop Python 3.9"),
    Ending("What would you like me to do?", "What would you like me to do?"),
    Ending("Hmm, `auth.py` and `auth/` both exist. Which one is canonical?", "Which one is canonical?"),
    Ending("Should I use Redis? It is faster, but adds a dependency.", "Should I use Redis?"),
    Ending("Which API version do you target? The client supports v1 and v2.", "Which API version do you target?"),
    Ending("Did you mean `colour` or `color`?", "Did you mean"),
    Ending("Do you have a preference for the log format? If not, I'd use JSON.", "preference for the log format?"),
    Ending("Should I keep the old endpoint? Let me know if you need more details.", "Should I keep the old endpoint?"),
    Ending(
        "Two tests contradict each other, so I stopped. Which one is right — `test_a` or `test_b`?",
        "Which one is right",
    ),
    Ending(
        "I stopped here because the spec is ambiguous. Please clarify what “archived” means for shared rows.",
        "Please clarify what",
    ),
    Ending("OK to delete the production bucket?", "OK to delete"),
    Ending("Reply with 1 or 2 and I'll continue.", "Reply with 1 or 2"),
    Ending("## Decision needed\n\nKeep SQLite or move to Postgres?", "Keep SQLite or move to Postgres?"),
    Ending(
        "I've drafted the schema in `docs/schema.md`. Once you approve it, I'll start on the migration.",
        "Once you approve it",
    ),
    Ending("If you're happy with this plan, I'll start implementing it.", "happy with this plan"),
    Ending("I see two ways forward:\n1. Patch it\n2. Replace it\n\nLet me know!", "Let me know!"),
    Ending("Plan: split the module, then move the tests. Thoughts?", "Thoughts?"),
    Ending("Would you prefer tabs or spaces?", "tabs or spaces?"),
    Ending("To continue, I need:\n- the region\n- the bucket's name", "To continue, I need"),
    Ending("I need the following information from you:\n1. the API key\n2. the region", "information from you"),
    Ending("Please run `npm login` in another terminal, then tell me to continue.", "tell me to continue"),
    Ending(
        "Should I:\n\n1. Fix it here\n2. Open an issue instead", "Should I:", ("Fix it here", "Open an issue instead")
    ),
    Ending("(A) keep the alias\n(B) drop it\n\nA or B?", "A or B?", ("keep the alias", "drop it")),
    Ending("Should I merge? All tests pass.", "Should I merge?"),
    Ending("I've analyzed the crash: the buffer is freed twice. Would you like me to fix it?", "fix it?"),
    Ending(
        "All tests pass on Linux. Which platform should I look at first?\n\n| platform | state "
        "|\n|---|---|\n| macOS | red |",
        "Which platform",
    ),
    Ending("Want me to proceed? 🚀", "Want me to proceed?"),
    Ending("Am I right that the old endpoint can be dropped?", "Am I right"),
    Ending("Dois-je continuer ?", "Dois-je continuer ?"),
    Ending("Which DB should I use? And which port should it listen on?", "Which DB should I use? And which port"),
    Ending("Soll ich fortfahren?", "Soll ich fortfahren?"),
    Ending("我看了两种方案。应该用 SQLite 还是 Postgres？", "应该用 SQLite 还是 Postgres？"),
    Ending("是否继续执行迁移？", "是否继续执行迁移？"),
    Ending("这会删除 214 个文件。请确认后我再继续。", "请确认后我再继续。"),
    Ending(
        "你希望我采用哪种方案？\n\n1. 修改解析器\n2. 重写解析器", "你希望我采用哪种方案？", ("修改解析器", "重写解析器")
    ),
    Ending("需要我继续吗？", "需要我继续吗？"),
    Ending("请告诉我你希望使用哪个数据库。", "请告诉我你希望使用哪个数据库。"),
    Ending("缺少访问令牌，请提供一个有读权限的 token。", "请提供一个有读权限的 token。"),
    Ending("我需要您的确认才能推送到主分支。", "我需要您的确认"),
    Ending("令牌的有效期應該是 7 天還是 30 天？", "7 天還是 30 天？"),
    Ending("在开始之前，有一个问题：旧接口要保留吗", "旧接口要保留吗"),
    Ending("方案如下：先拆分模块，再迁移测试。如果没有问题，我就开始实施。", "如果没有问题"),
    Ending("我打算把 `User` 改名为 `Account`。您看可以吗？", "您看可以吗？"),
    Ending("等待你的决定。", "等待你的决定。"),
    Ending("選項：\n1. 保留\n2. 刪除\n\n您要選哪一個？", "您要選哪一個？", ("保留", "刪除")),
    Ending(
        "I've gone through the issue. To fix this I need to change the public API of `Client`, "
        "which would break downstream users.\n\nHow would you like me to handle backwards "
        "compatibility?\n\n1. **Keep the old method** and mark it deprecated\n2. **Remove it** and "
        "bump the major version\n3. **Both** behind a feature flag\n\nLet me know which you'd like and I'll continue.",
        "Let me know which you'd like and I'll continue.",
        (
            "Keep the old method and mark it deprecated",
            "Remove it and bump the major version",
            "Both behind a feature flag",
        ),
    ),
    Ending(
        "I noticed the tests are failing because of a missing env var `DATABASE_URL`. Can you set "
        "it, or should I mock the database instead?",
        "Can you set it, or should I mock the database instead?",
    ),
    Ending(
        "Done with the first part. Before moving on: should the API return 404 or 403 for hidden projects?",
        "Before moving on: should the API return 404 or 403 for hidden projects?",
    ),
    Ending(
        'I\'m not sure what you mean by "the old flow". Could you clarify?',
        'I\'m not sure what you mean by "the old flow". Could you clarify?',
    ),
    Ending(
        "It looks like you want to remove the legacy endpoint. That endpoint is still used by the "
        "mobile app. Are you sure you want me to remove it?",
        "Are you sure you want me to remove it?",
    ),
    Ending(
        "The repository has two `config` directories. Which should I modify? I'll wait for your answer.",
        "Which should I modify?",
    ),
    Ending(
        "I have a few questions before I begin:\n\n1. What Python version should be supported?\n2. "
        "Do you want type hints?\n3. Should I include a CLI?\n\nOnce I have this info, I'll get started.",
        "I have a few questions before I begin:",
    ),
    Ending(
        "**Question:** Do we keep the v1 API?\n\n- Yes: more maintenance\n- No: breaks two clients",
        "Question: Do we keep the v1 API?",
    ),
    Ending(
        "This change requires dropping the `users_old` table. Shall I do that?",
        "This change requires dropping the users_old table. Shall I do that?",
    ),
    Ending(
        "I can implement this using either polling or websockets. Polling is simpler; websockets "
        "scale better. Which approach do you prefer?",
        "Polling is simpler; websockets scale better. Which approach do you prefer?",
    ),
    Ending("Please provide the following:\n- API key\n- Region", "Please provide the following:"),
    Ending(
        "Would you like me to implement option 1 or option 2?", "Would you like me to implement option 1 or option 2?"
    ),
    Ending("I couldn't find the file you mentioned (`foo.txt`). Did you mean `foo.md`?", "Did you mean foo.md?"),
    Ending(
        'I need clarification on one point: does "user" include service accounts?',
        'I need clarification on one point: does "user" include service accounts?',
    ),
    Ending(
        "There's a merge conflict in `package-lock.json`. I can (a) regenerate it or (b) keep ours. What should I do?",
        "I can (a) regenerate it or (b) keep ours. What should I do?",
    ),
    Ending("Proceed? [y/N]", "Proceed? [y/N]", ("yes", "no")),
    Ending(
        "The tests pass, but the linter config conflicts with yours. Should I change the linter config or the code?",
        "Should I change the linter config or the code?",
    ),
    Ending(
        "Everything is ready to deploy. Do you want me to deploy to production now?",
        "Do you want me to deploy to production now?",
    ),
    Ending("I've prepared the migration but haven't run it. Should I run it now?", "Should I run it now?"),
    Ending("请问您希望使用哪种认证方式？\n1. JWT\n2. Session", "请问您希望使用哪种认证方式？", ("JWT", "Session")),
    Ending("我找到了两个同名的配置文件，应该修改哪一个？", "我找到了两个同名的配置文件，应该修改哪一个？"),
    Ending("这个操作不可逆，是否确认删除？", "这个操作不可逆，是否确认删除？"),
    Ending("您想让我先修复测试还是先重构？", "您想让我先修复测试还是先重构？"),
    Ending("需要先确认一下：要保留旧接口吗？", "需要先确认一下：要保留旧接口吗？"),
    Ending("在继续之前，我需要知道数据库的地址。", "在继续之前，我需要知道数据库的地址。"),
    Ending("Two things I need from you:\n1. The API key\n2. Which region to deploy to", "Two things I need from you:"),
    Ending("I'll need access to the staging cluster to go further. Can you grant it?", "Can you grant it?"),
    Ending("What should I name the new module?", "What should I name the new module?"),
    Ending("Is `main` the right base branch? I couldn't tell from the README.", "Is main the right base branch?"),
    Ending(
        "I've hit a snag: the CI secret isn't available here. How do you want to handle it?",
        "How do you want to handle it?",
    ),
    Ending(
        "Both `v1` and `v2` of the schema exist in the repo.\n\nCan you tell me which one production uses?",
        "Can you tell me which one production uses?",
    ),
    Ending("The spec says 30 minutes, the code says 60. I left the code alone. Which is correct?", "Which is correct?"),
    Ending(
        "Found it. The crash is caused by a null `session`. I can either guard against it in "
        "`handler.py` or fix the root cause in `session.py` (riskier). Which do you want?",
        "Which do you want?",
    ),
    Ending(
        "I'd like to confirm before touching production: is it OK to run `terraform apply`?",
        "I'd like to confirm before touching production: is it OK to run terraform apply?",
    ),
    Ending("Ready to proceed with the deletion. Confirm?", "Confirm?"),
    Ending(
        "Please review the plan above and let me know if you approve.",
        "Please review the plan above and let me know if you approve.",
    ),
    Ending(
        "Here's what I propose:\n\n1. Extract the parser\n2. Delete the old one\n\nDoes this plan "
        "look good? If so, I'll start.",
        "Does this plan look good? If so, I'll start.",
    ),
    Ending(
        "I wasn't able to reproduce the bug. Do you have a sample input that triggers it?",
        "Do you have a sample input that triggers it?",
    ),
    Ending(
        "Sorry, I don't have permission to write to `/etc`. Could you run `sudo chown` on it or "
        "give me another directory?",
        "Could you run sudo chown on it or give me another directory?",
    ),
    Ending(
        "Should the new field be optional?\n\nContext: the mobile client doesn't send it yet.",
        "Should the new field be optional?",
    ),
    Ending(
        "Which of the following would you like me to tackle first?\n\n- [ ] Flaky tests\n- [ ] Slow "
        "startup\n- [ ] Docs",
        "Which of the following would you like me to tackle first?",
        ("Flaky tests", "Slow startup", "Docs"),
    ),
    Ending(
        "To make sure I understand: you want every endpoint to return 410, including the health check?",
        "To make sure I understand: you want every endpoint to return 410, including the health che",
    ),
    Ending(
        "I need to know the maximum upload size before I can write the validation.",
        "I need to know the maximum upload size before I can write the validation.",
    ),
    Ending(
        "Do you want me to overwrite the existing `config.yml`? It contains local changes.",
        "Do you want me to overwrite the existing config.yml?",
    ),
    Ending("My recommendation is option 2.\n\nShall I go with that?", "Shall I go with that?"),
    Ending("Let me know which one to use: `uuid` or `ulid`.", "Let me know which one to use: uuid or ulid."),
    Ending(
        "I'm blocked on the missing credentials. Please add `AWS_PROFILE` to the environment and "
        "tell me when it's there.",
        "Please add AWS_PROFILE to the environment and tell me when it's there.",
    ),
    Ending("在修改之前想确认：这个字段可以为空吗？", "在修改之前想确认：这个字段可以为空吗？"),
    Ending("您希望我保留旧的测试文件，还是一并删除？", "您希望我保留旧的测试文件，还是一并删除？"),
    Ending("请选择：\nA. 保留\nB. 删除", "请选择：", ("保留", "删除")),
    Ending("数据库密码是什么？我在环境变量里没有找到。", "数据库密码是什么？"),
    Ending("要不要我现在就执行部署？", "要不要我现在就执行部署？"),
    Ending("方案A更快，方案B更稳。您倾向哪个？", "您倾向哪个？"),
    Ending(
        "> use the new API\n\nThere are two new APIs, `v3` and `next`. Which one did you mean?",
        "There are two new APIs, v3 and next. Which one did you mean?",
    ),
    Ending(
        "What timezone should the report use? UTC, or the server's local time?",
        "What timezone should the report use? UTC, or the server's local time?",
    ),
    Ending("I paused here. Continue with the remaining 14 files?", "Continue with the remaining 14 files?"),
    Ending("Delete `legacy/`?", "Delete legacy/?"),
    Ending(
        "Before implementing, I want to double check the requirement. When a user is deleted, "
        "should their comments be deleted too, or anonymised?",
        "When a user is deleted, should their comments be deleted too, or anonymised?",
    ),
    Ending("The upgrade introduces a breaking change in `foo()`. How should I proceed?", "How should I proceed?"),
    Ending(
        "I've reached a decision point.\n\n**Option 1**: keep the monolith\n**Option 2**: split the "
        "service\n\nPlease advise.",
        "Please advise.",
    ),
    Ending(
        "I see that `package.json` lists both jest and vitest. Which test runner do you use?",
        "Which test runner do you use?",
    ),
    Ending(
        'The request is ambiguous: "clean up the tests" could mean removing dead tests or '
        "reformatting them. Please tell me which one you meant.",
        "Please tell me which one you meant.",
    ),
    Ending("I don't have the password for the staging DB. Could you provide it?", "Could you provide it?"),
    Ending("If I go ahead, 12 snapshots change. Is that acceptable?", "Is that acceptable?"),
    Ending("I would suggest pinning the version. Do you agree?", "Do you agree?"),
    Ending(
        "I can't continue without your answer: is the header case-sensitive?",
        "I can't continue without your answer: is the header case-sensitive?",
    ),
    Ending(
        "Awaiting your confirmation before deleting anything.", "Awaiting your confirmation before deleting anything."
    ),
    Ending(
        "## Summary\n\nI explored the code.\n\n## Next step\n\nDo you want me to implement the fix described above?",
        "Do you want me to implement the fix described above?",
    ),
    Ending("Which file should I edit?\n\n```\nsrc/a.py\nsrc/b.py\n```", "Which file should I edit?"),
    Ending(
        "I've stopped because the working tree has uncommitted changes. Should I stash them, commit "
        "them, or leave them?",
        "Should I stash them, commit them, or leave them?",
    ),
    Ending(
        "What should happen if both flags are given?\n1) error out\n2) last one wins",
        "What should happen if both flags are given?",
        ("error out", "last one wins"),
    ),
    Ending(
        "Do you have a moment to decide on the name? I have `Foo` and `Bar`.",
        "Do you have a moment to decide on the name?",
    ),
    Ending("Shall I start with the backend?", "Shall I start with the backend?"),
    Ending("One more thing: the licence header is missing in 40 files. Should I add it?", "Should I add it?"),
    Ending("I need you to choose: A) rewrite or B) patch.", "I need you to choose: A) rewrite or B) patch."),
    Ending("麻烦确认一下接口地址。", "麻烦确认一下接口地址。"),
    Ending("有两种做法：一是升级依赖，二是打补丁。你想用哪一种？", "你想用哪一种？"),
    Ending("我不确定您的意思，能再说明一下吗？", "我不确定您的意思，能再说明一下吗？"),
    Ending("請問要使用哪個分支？", "請問要使用哪個分支？"),
    Ending("这里有冲突，要保留我们的版本还是他们的版本？", "这里有冲突，要保留我们的版本还是他们的版本？"),
    Ending("当前没有写权限，需要您授权后才能继续。", "当前没有写权限，需要您授权后才能继续。"),
    Ending("Could you paste the full stack trace?", "Could you paste the full stack trace?"),
    Ending("I'm about to drop the column `email`. Type 'yes' to confirm.", "Type 'yes' to confirm."),
    Ending("Do I need to support Python 3.8?", "Do I need to support Python 3.8?"),
    Ending("Quick check: tabs or spaces?", "Quick check: tabs or spaces?"),
]
