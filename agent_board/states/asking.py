"""What one sentence of an agent does: asks for a decision, offers more work, tells that work is done, or states.

Two languages, English and Chinese (both scripts). The patterns look for words of intent rather than whole phrases;
a question that fits none of them counts as asking.
"""

import re
from enum import Enum
from functools import cache


class Kind(Enum):
    """What a sentence does."""

    ASK = "ask"
    OFFER = "offer"
    STATE = "state"


class Words:
    """Alternatives looked for in a sentence. Compiled at first use: the runner seldom needs them."""

    def __init__(self, *alternatives: str) -> None:
        self._source = "|".join(alternatives)

    def within(self, text: str) -> bool:
        """Whether one of them is in the text."""
        return _compiled(self._source).search(text) is not None

    def begin(self, text: str) -> list[int]:
        """Where each of them begins."""
        return [found.start() for found in _compiled(self._source).finditer(text)]


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


_ENDING_MARK = (
    r"(?:(?<=[\w)\]’”\"'*_%}>/+#.!…~])|(?<=[^\x00-\x7f])|(?<=[A-Za-z0-9]\s))"  # it belongs to words: “id = ?” is none
    r"[?？]+[!！?？]*[\s\"'”’)\]*_»」』）\U0001F000-\U0001FAFF☀-➿️]*$"
)
_ASKS_BY_FORM = Words(
    _ENDING_MARK,
    r"(?:吗|嗎|呢|么|麼)[\s。.!！~～…*_)）]*$",
    r"^\W*(?:(?:so|and|but|now),? )?(?:should I|shall (?:I|we)|do you (?:want|prefer)|would you (?:like|prefer"
    r"|rather)"
    r"|which\b.*\b(?:you|should|I))\b.*[:：]\W*$",
)

# Where an imperative may begin: at the start of the sentence, or behind a break in it.
_LEAD = (
    r"(?:^\W*|[,;:—–、，；：]\s*|\s-\s|\b(?:so|and|but|then|first|otherwise|or|before \w+(?: \w+){0,6},?)\s+)"
    r"(?:(?:please|kindly|just) )*"
)

_LOOKING = (
    r"look|check|review|analy|investigat|identif|examin|trac|explor|inspect|search|scann|studi|assess|locat|open|list"
    r"|not\b|been\b|need|decid|want|stopp|paus|prepar|draft|plann|outlin|propos|compar|consider|assum"
)
_DONE = Words(
    r"^\W*(?:all )?(?:done|finished|completed?|fixed|implemented|added|updated|refactored|created|removed"
    r"|renamed|migrated"
    r"|resolved|committed|pushed|merged|deployed|cleaned)\b",
    r"\bI(?:'ve|’ve| have)(?: (?:now|also|just|successfully))* "
    rf"(?!{_LOOKING})(?:\w+ed|written|made|built|rewritten|split|set|put|run)\b",
    r"\bI (?:fixed|added|implemented|updated|refactored|created|removed|renamed|migrated|wrote|moved|replaced"
    r"|changed)\b",
    r"(?:\b(?:is|are|was|were|has been|have been)|\b(?:it|that|everything)['’]s)(?: now| all)? (?:done|finished"
    r"|completed?"
    r"|fixed|implemented|in place|merged|updated|ready(?! (?:to|for)\b)|resolved|green|working)\b",
    r"\bI left (?:it|them|that|the \w+) (?:alone|as is|unchanged|untouched)\b",
    r"\btests? (?:\w+ )?(?:now )?pass(?:es|ed|ing)?\b|\bsuccessfully\b|\bworks now\b|\ball set\b|\bno errors\b",
    r"已经?(?:完成|修复|修正|添加|实现|更新|创建|删除|提交|解决|改好|重构)|(?:完成|修复|修正|修改)(?:了|好了|完毕)",
    r"(?:修改|重构|迁移|开发)(?:已)?完成|全部通过|测试(?:都|均|已)?通过|搞定",
    r"已經?(?:完成|修復|修正|添加|新增|實現|實作|更新|建立|刪除|提交|解決|改好|重構)|(?:完成|修復|修改)(?:了"
    r"|好了|完畢)",
    r"(?:修改|重構|遷移|開發)(?:已)?完成|全部通過|測試(?:都|均|已)?通過",
)
_NOT_YET = Words(
    r"(?:\b(?:not|never|yet to|before|once|until|when|if|to be)|n['’]t)\b[^.]{0,24}$", r"(?:没|未|沒|尚未)\w{0,4}$"
)

_EXTRA = Words(
    r"\b(?:also|as well|too|additionally|in addition|another|further|furthermore|else|next|more"
    r"|while I'm (?:at it|here)"
    r"|follow-?up|on top of that)\b",
    r"再|顺便|順便|另外|还(?!是)|還(?!是)|其他|其它|进一步|進一步|下一步|也",
)
_GO_ON = Words(
    r"\b(?:proceed|continue|go ahead|go on|carry on|keep going|start (?:on |with )?(?:it|this|the|now"
    r"|implement\w*)|begin"
    r"|move (?:on|forward)|resume|ok(?:ay)? (?:to|if|with)|approve|confirm)\b|\bstart(?:ing)?\W*$",
    r"继续|繼續|开始|開始|执行|執行|进行|進行|批准|确认|確認",
)
_FOLLOW_UP = Words(
    r"\b(?:commit|push|open|create|raise|submit|merge|clean up|document|refactor|deploy|release|tag|squash"
    r"|(?:add|write) (?:a |some |more |unit |the )*(?:tests?|docs?|documentation|comments?|examples?)"
    r"|update the (?:docs?|readme|changelog)|run the (?:full|whole|entire|complete))\b",
    r"提交|推送|合并|合併|部署|测试|測試|文档|文檔|重构|重構|清理|发布|發布",
)
_OR = Words(r"\bor\b(?! (?:anything|something|so|more|less|two|else|maybe))", r"还是|還是|或者|抑或")
_WH = Words(r"^\W*(?:(?:so|and|but|now),? )?(?:which|what|where|when|who|whose|how)\b", r"哪")

_WEAK_LEAD = Words(
    r"\bwould you like\b|\b(?:do|did) you want (?:me|us|that|this|it)\b|\bwant (?:me|us) to\b"
    r"|\bshould you (?:want|need)\b",
    r"\b(?:can|could|may|might) I (?:help|also)\b|\bready (?:to|for)\b|\binterested in\b|\bwould it (?:help"
    r"|be (?:useful|helpful|worth))\b",
    r"(?:需要|要|想|希望|要不要|需不需要|用不用)\S{0,4}我|(?:是否|要不要|需不需要)(?:还|還|再|也|需要)|我(?:帮"
    r"|幫|来|來|去)",
)
_STRONG_LEAD = Words(
    r"\b(?:should|shall|may|can|could|do) (?:I|we)\b|\bis it (?:ok|okay|fine|safe|all ?right)\b"
    r"|\bok(?:ay)? (?:to|if|with)\b",
    r"我(?:们|們)?(?:应该|應該|该|該|可以|能)|是否(?:应该|應該|可以|要)|可不可以|能不能",
)

_ALWAYS_OFFER = Words(
    r"\b(?:anything|something|what) else\b.*[?？]|\b(?:need|is there) anything\b|\b(?:need|want|like) (?:any "
    r"|some |more )?help\b",
    r"^\W*(?:any|more|other|further) (?:questions|thoughts|comments|feedback|concerns)\b|^\W*questions\W*$",
    r"\bhow (?:can|may|could) I (?:help|assist)\b|\bwhat can I (?:help|do for)\b|\b(?:happy|glad) to\b|\bfeel free\b",
    r"\bdon['’]t hesitate\b|\bat your disposal\b|\bjust (?:ask|say)\b|\bI can also\b",
    r"\b(?:let me know|tell me|ping me|reach out|shout|say so|ask) if\b|\b(?:let me know"
    r"|tell me) when(?:ever)? you\b",
    r"\bif (?:you|anything|something|there)\b.{0,80}\b(?:let me know|tell me|just ask|ping me)\b",
    r"\b(?:let me know|tell me) (?:how it (?:goes|works)|what you think)\b",
    r"还有(?:什么|其他|别的|哪些)|還有(?:什麼|其他|別的|哪些)|还需要|還需要|(?:什么|什麼)(?:我)?(?:可以|能)(?:帮|幫)",
    r"(?:如果?|若|假如|要是)(?:你|您|有|还|還|需|想|觉|覺).{0,40}(?:告诉|告訴|随时|隨時|联系|聯繫|说|說|叫|找|提)",
    r"(?:随时|隨時)(?:告诉|告訴|联系|聯繫|找|问|問)",
)
_RHETORICAL = Words(
    r"^\W*(?:who knew|guess what|sound familiar|see the (?:difference|pattern|problem)|get it|right|cool|neat"
    r"|nice|remember"
    r"|(?:does (?:that|this|it) )?makes? sense|does (?:that|this) (?:help|answer)|(?:you )?know what|how (?:cool"
    r"|nice|neat|great)|did you know"
    r"|ha(?:ve|d) you (?:ever )?considered|who (?:would|could) have|why not|why bother"
    r"|what could (?:possibly )?go wrong"
    r"|isn['’]t (?:it|that)|wasn['’]t that|wouldn['’]t it"
    r"|the (?:result|reason|catch|problem|upshot|outcome|fix|culprit|best part|verdict|cause)"
    r"|(?:so )?what (?:changed|happened))\b[^?？]*[?？]+\W*$",
    r"^(?!.*\byou\b).*, (?:right|no|huh|eh|is(?:n['’]t)? it|does(?:n['’]t)? it)[?？]\W*$",
    r"^\W*(?:maybe|perhaps|probably|possibly)\b(?!.*\b(?:you|should|shall)\b)",
    r"^\W*(?:懂了吗|懂了嗎|明白了吗|明白了嗎|是不是很|何乐而不为|何樂而不為|为什么呢|為什麼呢|原因呢|结果呢|結果呢)",
)
_THING = (
    r"(?:prompt|issue|ticket|title|faq|heading|section|comment|message|error|log|dialog|question|banner|popup"
    r"|wizard|script"
    r"|installer|form|page|button|command|cli|tool|screen|test|function|method|check|todo)"
)
_ECHO = Words(
    r"\byou(?:'d|’d| had)? (?:asked|wanted to know|were asking)\b|\byour (?:original |initial |first )?question\b",
    r"\bI (?:asked myself|wondered)\b|\b(?:is|are|was|were|be|get|gets) (?:now )?asked\b|\bTODO\b",
    rf"\b(?:the|this|that|a|an|your)\b(?: \w+)? {_THING}\b[^?？]{{0,40}}"
    r"\b(?:says|said|asks?|asked|prompts|reads|shows|answers|checks|determines|tells|was|is)\b.*[:：,]",
    rf"\b(?:the|this|that|a|an)\b(?: \w+)? {_THING}\b[^?？]{{0,40}}\b(?:asks?|asked|asking|prompts) (?:whether"
    rf"|if|for|to)\b",
    r"\bit (?:asks|checks|says)\b.*[:：,]|\banswers\b.*[:：]|\bto answer (?:your|the)\b|\bin answer to\b"
    r"|\bre(?:garding)? your\b",
    r"(?:你|您)(?:刚才|剛才|之前|曾)?(?:问|問|提问|提問)(?:的|到|了|过|過|我)?|(?:你|您)的(?:问题|問題)|(?:用户"
    r"|用戶)(?:问|問)",
)
_TASTE = Words(
    r"\bwhat do you think\b|\bthoughts\W*$|\bhappy with\b|\bwhat['’]?s next\b|\bwhich\b.{0,60}\bnext\b",
    r"\b(?:does|do|is|are) (?:this|that|it|these|those|everything|the \w+)\b[^?]{0,40}"
    r"\b(?:looks?|sound|work|ok|okay|good|right|fine|correct|acceptable|what you)\b|\b(?:sounds?|looks?) (?:good"
    r"|ok|okay|fine)\b",
    r"\bwhat (?:should|would you like|do you want)\b.{0,30}\bnext\b",
    r"\b(?:review|take a look|have a look|check it|try it|give it a)\b",
    r"(?:你|您)(?:觉得|覺得|认为|認為|看)(?:怎么样|怎麼樣|如何|呢|可以|行)|(?:可以|行|好|对|對)(?:吗|嗎|吧|么"
    r"|麼)[?？]?$",
    r"(?:怎么样|怎麼樣|如何)[?？]$",
)

_NEEDED_FROM_USER = (
    r"(?:input|decision|confirmation|approval|clarification|guidance|permission|answer|call|direction|go-ahead"
    r"|sign-?off"
    r"|feedback|preference|credentials|choice|reply|response|instructions?)"
)
_NOT_A_THING = r"\b(?! (?:file|field|data|stream|validation|format|box|handling|parser|element)\b)"
_CANT_GO_ON = Words(
    r"(?:\bcan(?:['’]t|not)|\bunable to|\bwon['’]t|\b(?:will )?not (?:able to )?) ?(?:\w+ )?"
    r"(?:continue|proceed|go on|go any further|start|finish|decide|move|do (?:this|that|it|anything))\b"
    r".*\b(?:without|until|unless|before)\b",
    r"\b(?:before|until|unless) (?:I|we|you) (?:can )?(?:continue|proceed|go on|start|hear|get|know|confirm"
    r"|decide|approve|tell)"
    r"\b.*\b(?:need|require|must|want|wait|pause|hold|stop)",
    r"\b(?:to (?:continue|proceed|go on|finish)|from you)\b.*\bI(?:['’]ll| will)? need\b|\bI need\b.*\bfrom you\b",
    r"(?:没有|沒有|缺少|无|無).{0,16}(?:无法|無法|不能)(?:继续|繼續|进行|進行|开始|開始)|在(?:你|您|得到"
    r"|收到).{0,12}之前",
    r"前.{0,4}我?(?:需要|要)先?(?:知道|了解|确认|確認)|\bI(?:['’]ll)? need to know\b.*\bbefore\b",
)
_DIRECT = Words(
    _LEAD + r"(?:confirm|clarify|choose|pick|decide|advise|specify|approve|(?:reply|respond|answer) with|answer the"
    r"|send me|paste|type .{0,30} to (?:confirm|continue|proceed)"
    r"|select(?! (?:\*|[^.?]*\bfrom\b))|provide (?:me |us )?(?:the|your|an?)|share (?:the|your)|indicate"
    r"|tell me (?:which|what|how|whether|where|who|when|to|the|your))\b",
    r"\blet me know (?:which|whether|where|who|how (?:you|to|I|we)|what (?:you(?:['’]d| would)? (?:like|want"
    r"|prefer|decide|choose)"
    r"|to|I|we|the|should|name|kind)|your (?:choice|preference|decision|answer|pick)|the (?:value|name|path|url"
    r"|key|version)"
    r"|once you)\b|^\W*(?:please )?let me know\W*$",
    r"\b(?:I|we)(?:['’]ll|['’]d| will| do| would)?(?: (?:still|also|just|first|now|therefore))* need "
    r"(?:(?:some|more|further|an?|one|quick|bit of) )*(?:you to\b|(?:your |you |user )?"
    + _NEEDED_FROM_USER
    + _NOT_A_THING
    + ")",
    r"\b(?:needs?|requires?|await(?:s|ing)|pending|waiting (?:for|on)) your (?:\w+ )?"
    + _NEEDED_FROM_USER
    + _NOT_A_THING,
    r"\bwaiting (?:for|on) you\b|\b(?:it|that|this)(?:['’]s| is) (?:entirely )?(?:up to you|your (?:call|choice"
    r"|decision))\b"
    r"|(?:^\W*|[—–,-] )your (?:call|choice|decision)\W*$",
    r"\b(?:two|three|four|several|a few|some|couple of|following|\d) (?:\w+ )?(?:open |clarifying )?(?:questions"
    r"|decisions)"
    r" (?:for you|before|that need|I need|need|to (?:answer|settle|resolve|decide))",
    r"\bonce you(?:['’]ve)? (?:confirm|approve|decide|choose|chosen|answer|tell|repl|pick|give|agree)",
    r"(?:请|請|麻烦|麻煩|烦请|煩請)(?:你|您|先|再|帮忙|幫忙|务必)*(?:确认|確認|选择|選擇|选|選|告诉我|告訴我"
    r"|告知|提供|说明|說明"
    r"|明确|明確|指定|指示|回复|回覆|决定|決定|授权|授權|批准|澄清|补充|補充)",
    r"(?:需要|等待|等|等候)(?:你|您|用户|用戶)(?:的|来|來|先|做|給|给)*(?:确认|確認|选择|選擇|决定|決定|输入"
    r"|輸入|回复|回覆|答复"
    r"|答覆|批准|授权|授權|指示|意见|意見|提供|澄清|同意)",
    r"(?:由|取决于|取決於)(?:你|您)(?:来|來)?(?:决定|決定|选|選)?|(?:你|您)(?:来|來)?(?:决定|決定|选|選)(?:吧|即可)",
)
_IF_AGREED = Words(
    r"\bif (?:so|yes|you(?:['’]re| are)? (?:happy|ok|okay|fine|agree|approve|good)|that['’]?s? (?:ok|okay|fine|works"
    r"|sounds good))\b"
    r".{0,60}\bI(?:['’]ll| will| can)\b",
    r"(?:如果?|若)(?:没有?问题|沒有?問題|可以|同意|没意见|沒意見|认可|認可).{0,12}(?:就|会|會|将|將)",
)
_NO_NEED = Words(
    r"(?:\b(?:no|not|nothing|never|without)\b|n['’]t\b)[^.;,]{0,30}\b(?:need|needs|needed|required?|requires"
    r"|asking|waiting|ask)\b",
    r"\bno (?:further |more )?(?:input|action|decision|confirmation|approval)\b|\bno longer\b",
    r"\bnothing (?:else )?(?:is )?(?:needed|required|for you)\b|(?:不|无|無|毋|没有|沒有)(?:需要?|须|須|用|必)",
)
_ABOUT_OTHERS = Words(
    r"^\W*(?:the|this|that|it|users?|they|an?|he|she)\b[^.?]{0,60}\b(?:asks?|prompts?|must|should|will|can|may"
    r"|says|shows|displays)\b"
)

_DIRECTED = Words(
    r"\b(?:you|your|prefer|or not|okay|ok)\b|\b(?:should|shall|can|could|may|do|would) (?:I|we|it|the|this|that)\b"
    r"|\b(?:(?:does|do|is) (?:this|that|it)|right|correct|intended|expected|preferred|safe|acceptable)\b",
    r"\b(?:which|what|where|who|how)\b[^?]{0,60}\b(?:should|shall)\b|\bwhich (?:one|option|of|approach|way"
    r"|version)\b",
    r"你|您|我|咱|请|請|是否|还是|還是|哪|要不要|应该|應該|是(?:什么|什麼|多少)|在哪",
)
_WHY = Words(r"^\W*(?:(?:so|but),? )?why\b", r"^\W*(?:为什么|為什麼|为何|為何)")
_ANSWERED = Words(
    r"^\W*(?:no|yes|nope|yep|because|not really|turns out|(?:the )?answer|since|well|simple|in short|probably"
    r"|so (?:I|we))\b",
    r"^\W*a(?:nswer)?\s*\d*\s*[:：]",
    r"^\W*it (?:(?:turns out|depends)\b|(?:is|was|does|did|isn['’]t|doesn['’]t)\s*[.,;:!])",
    r"^\W*(?:因为|因為|答案|不是|不会|不會|不需要|是的|没有|沒有|其实|其實|原来|原來)",
)
_DECIDED = Words(
    r"\b(?:I|we)(?:['’]ve| have)? (?:went|gone|go|decided|chose|chosen|picked|opted|settled|ended up|used|kept|left"
    r"|assumed)\b",
    r"\b(?:and|so|then) (?:went with|chose|picked|opted|settled|did)\b|\bI(?:['’]ll| will) (?:assume|default to)\b",
    r"我(?:已|就|最终|最終|选择了|選擇了|决定|決定|采用了|採用了)",
)
_CHOOSING = Words(
    r"\b(?:which|choose|pick|select|prefer|options?|choice|either|what|how|where|who|one of|do you want"
    r"|would you like)\b"
    r"|\b[A1] or [B2]\b|\b(?:should|shall) (?:I|we)\s*:",
    r"哪|选|選|方案|什么|什麼|怎么|怎麼|如何",
)
_AMONG = Words(r"\b(?:which|prefer|choose|pick|select|one of|\d or \d|[A-D] or [A-D])\b", r"哪|选|選")
_FOR_LATER = Words(
    r"\b(?:future|later|follow-?ups?|optional|nice to have|next steps?|ideas?|out of scope|further"
    r"|considerations?|faq"
    r"|improvements?)\b",
    r"后续|後續|以后|以後|未来|未來|可选|可選|下一步|建议|建議",
)
_LEANING = Words(
    r"^\W*(?:sounds? good|ok|okay|(?:is|would) (?:that|this) (?:be )?(?:ok|okay|fine)|agreed?|good to go|ready"
    r"|thoughts"
    r"|(?:shall|should|may|can) I(?: (?:proceed|continue|go ahead|start|(?:do|try) (?:it|this|that)))?"
    r"|what should (?:I|we) do|which (?:one|approach|option|way)\b[^?]{0,30}|could you clarify"
    r"|what do you (?:think|prefer)"
    r"|(?:it['’]s )?(?:your call|up to you))\W*$",
    r"^\W*(?:可以|好|行|对|對|您看可以|继续|繼續|是否继续|是否繼續)(?:吗|嗎|么|麼)?\W*$",
)
_LONGEST_CONTEXT = 300


def is_question(sentence: str) -> bool:
    """Whether a sentence ends as a question does: by its mark, a Chinese particle, or the colon before its choices."""
    return _ASKS_BY_FORM.within(sentence)


def tells_done(text: str) -> bool:
    """Whether some sentence of the text says that work is finished."""
    return any(not _NOT_YET.within(text[max(0, at - 40) : at]) for at in _DONE.begin(text))


def is_directed(sentence: str) -> bool:
    """Whether a question is put to the reader: such a one still asks when something follows it."""
    return _DIRECTED.within(sentence) and not _WHY.within(sentence)


def is_settled_by(statements: list[str]) -> bool:
    """Whether what was said after a question answers it."""
    return bool(statements) and (_ANSWERED.within(statements[0]) or any(map(_DECIDED.within, statements)))


def is_choosing(sentence: str) -> bool:
    """Whether a question wants one of several things, so that a list behind it holds the choices."""
    return _CHOOSING.within(sentence)


def is_choosing_among(sentence: str) -> bool:
    """Whether a question points at a list that stands before it."""
    return _AMONG.within(sentence)


def is_for_later(intro: str) -> bool:
    """Whether a list's heading says that its points need no answer now."""
    return _FOR_LATER.within(intro)


def leans_on_previous(sentence: str, previous: str) -> bool:
    """Whether a short question means little without the sentence before it, and that one is fit to be shown with it."""
    return _LEANING.within(sentence) and len(previous) <= _LONGEST_CONTEXT and any(map(str.isalnum, previous))


def classify(sentence: str, *, done: bool) -> Kind:
    """What a sentence does at the end of an answer; `done` tells whether finished work was told before it."""
    if _ECHO.within(sentence):
        return Kind.STATE
    if is_question(sentence):
        return _question(sentence, done=done)
    return _statement(sentence, done=done)


def _question(sentence: str, *, done: bool) -> Kind:
    if _RHETORICAL.within(sentence):
        return Kind.STATE
    if _ALWAYS_OFFER.within(sentence) and not (_DIRECT.within(sentence) or _OR.within(sentence)):
        return Kind.OFFER
    if not _WH.within(sentence):
        weak = _WEAK_LEAD.within(sentence)
        if weak or _STRONG_LEAD.within(sentence):
            return _permission(sentence, weak=weak, done=done)
    return Kind.OFFER if done and _TASTE.within(sentence) else Kind.ASK


def _permission(sentence: str, *, weak: bool, done: bool) -> Kind:
    """“Should I …?”, “Would you like me to …?”: going on needs it, or it is only more of the same."""
    extra = _EXTRA.within(sentence)
    if _OR.within(sentence) and not (weak and done and extra):
        return Kind.ASK
    if extra and (weak or done):
        return Kind.OFFER
    if _GO_ON.within(sentence):
        return Kind.ASK
    if done and (weak or _FOLLOW_UP.within(sentence) or _TASTE.within(sentence)):
        return Kind.OFFER
    return Kind.ASK


def _statement(sentence: str, *, done: bool) -> Kind:
    if _CANT_GO_ON.within(sentence):
        return Kind.ASK
    if _ALWAYS_OFFER.within(sentence):
        waits = not done and (_GO_ON.within(sentence) or _OR.within(sentence)) and "let me know" in sentence.lower()
        return Kind.ASK if waits else Kind.OFFER
    if _IF_AGREED.within(sentence):
        return Kind.OFFER if done else Kind.ASK
    if _DIRECT.within(sentence) and not _NO_NEED.within(sentence) and not _ABOUT_OTHERS.within(sentence):
        return Kind.OFFER if done and (_TASTE.within(sentence) or _EXTRA.within(sentence)) else Kind.ASK
    return Kind.STATE
