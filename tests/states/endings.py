"""How agents end their answers: the text, and what it asks (None: nothing that must be answered to go on)."""

from typing import NamedTuple


class Ending(NamedTuple):
    """One ending. `asks` must stand in the question found; `choices` are the choices found with it."""

    text: str
    asks: str | None
    choices: tuple[str, ...] = ()


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
]

NOT_ASKING = [
    Ending("Hello from the stub. Everything is fine.", None),
    Ending("Fixed 14 typos in 6 files.", None),
    Ending("All tests pass. Would you like me to also add tests for the edge cases?", None),
    Ending("I've added the flag and the docs. Want me to open a PR?", None),
    Ending("I fixed the race in `queue.py`. Should I also clean up the old helper?", None),
    Ending("The refactoring is done. Do you want me to commit these changes?", None),
    Ending("Done! Let me know if you have any questions.", None),
    Ending("Done. Let me know if you'd like any changes.", None),
    Ending("Everything is in place. Let me know if you want me to adjust the thresholds.", None),
    Ending("The bug is fixed. If you'd like, I can also backport it to 2.x.", None),
    Ending("Implemented as discussed. Is there anything else you'd like me to do?", None),
    Ending("Anything else?", None),
    Ending("Done. Any questions?", None),
    Ending("I updated the README. Feel free to tweak the wording.", None),
    Ending(
        "I renamed the module and updated all imports. Happy to split this into smaller commits if that helps.", None
    ),
    Ending("I've implemented the endpoint. What do you think?", None),
    Ending("Added the cache and tests; all green. Does this look good to you?", None),
    Ending("Created `report.md`. Please review it when you have a moment.", None),
    Ending("The migration is complete. What would you like to work on next?", None),
    Ending("Hi! How can I help you today?", None),
    Ending(
        "Why did the test fail? The fixture was shared between threads. I gave each test its own and it passes now.",
        None,
    ),
    Ending("So what changed? The lock is now taken before the read. Tests pass.", None),
    Ending("Should we worry about this? No, because the lock is held the whole time.", None),
    Ending("Should I cache it? I decided against it: the call takes 2 ms. The change is in `api.py`.", None),
    Ending("The result? Build time went from 90 s to 12 s.", None),
    Ending("It was a missing await. Who knew?", None),
    Ending("Removed 2,000 lines and nothing broke. How cool is that?", None),
    Ending("The cache now remembers negative lookups too. Makes sense?", None),
    Ending('You asked "should refresh tokens live 7 or 30 days?" — the code uses 30, see `config.py`.', None),
    Ending("> Should I use SQLite or Postgres?\n\nI used SQLite, as the README asks for.", None),
    Ending("I used SQLite, as the README asks for.\n\n> Should I use SQLite or Postgres?", None),
    Ending("You asked whether the parser handles tabs? It does, since 2.3.", None),
    Ending("Your question was: is `flock` safe over NFS? In short, no.", None),
    Ending("The dialog now says “Are you sure you want to delete this?”", None),
    Ending('The prompt text is now "Continue?"', None),
    Ending("The installer asks whether you want to overwrite the file.", None),
    Ending("The form now shows: please confirm your email address.", None),
    Ending("I simplified the expression:\n\n```python\nx = a if b else c  # why?\n```", None),
    Ending("The pattern is `^https?://`, so both schemes match.", None),
    Ending("It uses the ternary `a ? b : c` now.", None),
    Ending("The query is parameterised: SELECT * FROM users WHERE id = ?", None),
    Ending("The endpoint is https://example.org/search?q=term&page=2", None),
    Ending("Optional chaining (`user?.name`) removes the crash.", None),
    Ending("```sql\nSELECT name FROM t WHERE id = ?\n```", None),
    Ending("```\nDo you want to continue? [Y/n]\n```\n\nThat prompt is gone now; the command runs unattended.", None),
    Ending("Status: 3 of 5 files converted, 2 left. Waiting for CI to finish.", None),
    Ending("Progress so far:\n- parser: done\n- printer: in progress\n- tests: next", None),
    Ending("The script needs your input file in UTF-8.", None),
    Ending("No further input is needed from you; the job runs nightly.", None),
    Ending("You don't need to confirm anything: the token is refreshed by itself.", None),
    Ending("I didn't need your approval for this, since nothing was deleted.", None),
    Ending("Nothing was changed, because the working tree was already clean.", None),
    Ending(
        "All 212 tests pass.\n\n**Follow-ups (optional)**\n- Should we add rate limiting later?\n- "
        "Could the cache be shared?",
        None,
    ),
    Ending("Fixed.\n\n### Possible improvements\n1. Would a queue help?\n2. Is the retry limit too low?", None),
    Ending("## FAQ\n\n**Why is it slow?**\n\nBecause it reads the file twice. I removed the second read.", None),
    Ending("**What changed?**\n- the lock is taken earlier\n- the test no longer sleeps", None),
    Ending("I went with option A. Let me know if you would rather have option B.", None),
    Ending(
        "Which approach is better? I compared both and went with the iterator, which uses less memory. It is merged.",
        None,
    ),
    Ending("| Question | Answer |\n|---|---|\n| Is it fast? | yes |", None),
    Ending("Summary of your request: rename the flag. Done in `cli.py`, 3 call sites updated.", None),
    Ending("I checked whether the index is used: it is.", None),
    Ending("Have you considered using a queue here?", None),
    Ending("Ready when you are.", None),
    Ending("Committed as 3f2a9c1. Next steps: deploy to staging, then watch the error rate.", None),
    Ending("I asked myself: why not use a set? It turned out to be 10x faster, so I did. All tests pass.", None),
    Ending("The label in the title is 'Ready?' and that is intended.", None),
    Ending("Users are now asked: do you want to receive mails?", None),
    Ending("I left a TODO there: should this be async?", None),
    Ending("The function answers one question: is this path ours?", None),
    Ending("You can now run `make test`. Need help with the deployment?", None),
    Ending("I've added the migration. Would you like to see the diff?", None),
    Ending("Good catch — why didn't I see that? Fixed now.", None),
    Ending("What did we learn? Locks are hard. The fix is merged.", None),
    Ending("Please run `npm install` to pick up the new dependency.", None),
    Ending("I've updated the handler. Let me know how it goes.", None),
    Ending("", None),
    Ending("   \n\n", None),
    Ending("?", None),
    Ending("---", None),
    Ending("已修复 6 个文件中的 14 处拼写错误。", None),
    Ending("已经完成重构，所有测试通过。需要我再补充一些测试吗？", None),
    Ending("修改完成。还有什么需要我做的吗？", None),
    Ending("完成了。如果有问题，请随时告诉我。", None),
    Ending("已提交。需要我顺便更新文档吗？", None),
    Ending("你问的是“应该用 SQLite 还是 Postgres？”，代码里用的是 SQLite。", None),
    Ending("为什么会失败？因为两个线程共用了同一个夹具。现在已经修复。", None),
    Ending("对话框现在显示“确定要删除吗？”", None),
    Ending("不需要你做任何确认，任务每晚自动运行。", None),
    Ending("任務已完成，所有測試都通過。要不要我順便整理一下註解？", None),
]

ENDINGS = ASKING + NOT_ASKING
