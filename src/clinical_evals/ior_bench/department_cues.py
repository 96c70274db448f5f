"""The wording by which an answer recommends, refuses or sets aside a department (`department_statements` reads it).

Patterns are tried in the order of `_CUES` at each place of a folded, marked text; every repetition is bounded.
"""

import re

from clinical_evals.ior_bench.department_names import FOREIGN, MENTION

_FILLER = (
    r"(?:您|你|患者|病人|再|先|直接|立即|马上|专门|特意|首先|选择|考虑|首选|推荐|建议|应该|应|需要|可以|能够?|把|将|是"
    r"|很|太|特别|the|a|an|to|you|be|been|recommend(?:ed|ing)?|suggest(?:ed|ing)?|see(?:ing)?|visit(?:ing)?|go(?:ing)?"
    r"|consult(?:ing)?|consider(?:ed)?|need(?:ed)?|advise|refer| ){0,6}"
)
_VERB = (
    r"(?:挂号?|去|(?<![感听提达得遇看见碰想])到|(?<!来)看(?!来|起来|到)|找|前往|就诊于|就诊|转诊"
    rf"|转(?=[到至去{MENTION}])|选)"
)
_COURTESY = (
    r"(?:如果|假如)(?:是|换成|换作)我(?!的?[孩家])"
    r"|(?:如果|假如|(?<![主重需不只])要是|若是|若|如)(?:您|你|我|的)?(?:一定|必须|只能|方便|可以|愿意|有条件|条件允许|时间允许"
    r"|不确定|不清楚|不知道|没有?把握|没有?其他|没有?特殊|无其他|无特殊"
    r"|(?:想|想要|需要?|要)(?:就诊|就医|看病|看医生|挂号|挂|选|推荐|咨询|进一步|我))"
)
_WITHIN = rf"[^,。;!?\n{MENTION}]"
_CONDITION = (
    r"如果|假如|假使|假若|倘若|(?<![主重需不只])要是|若是|倘|只有(?=[^,。;!?\n]{0,16}才)|(?<!干)若(?!干)|一旦|万一|除非|否则|必要时|需要时"
    rf"|(?:^|(?<=[,。;!?\n(:{MENTION} ]))如(?![上下图此前何今同是所]|[您你]所|患者所)|如(?=有|出现|伴|症状|疼痛|病情)"
    rf"|(?:无效|不行|[没无]好转|没有好转|不见好|[不无]缓解|效果不[佳好]){_WITHIN}{{0,4}}(?=,?(?:再|则))"
    rf"|(?:出现|发生|加重|加剧|恶化){_WITHIN}{{0,12}}?(?:(?<![小同及按定有暂])时(?![间常])|的话)"
    rf"|(?:有|持续|不缓解|严重|明显){_WITHIN}{{0,10}}?(?:的话|(?:(?<![小同及按定有暂])时|(?<!患)者)(?=[,请去挂应可再建需]))"
    rf"|当(?:您|你|患者|出现|病情|症状|疼痛|有|发){_WITHIN}{{0,12}}时"
    r"|\bif\b|\bin case\b|\bunless\b|\bshould you\b|\botherwise\b"
)
_WORRY = "担心|害怕|着急|紧张|怕|急|客气"
_REFUSAL = (
    r"(?:不(?:太|是?很|大|怎么|是?特别)?(?:建议|推荐|像|属于|符合|适合|合适|支持)|(?:而)?不是|而非|并非(?!只|仅)|并不(?:是|需要)?"
    rf"|不(?:主张|认为|应当?|宜|该|必|用(?!{_WORRY})|需要?(?!{_WORRY})|要(?!紧|{_WORRY})|能|可|考虑|属于|归|在|选|支持|像|符合"
    rf"|适合|涉及)|(?:无法|不能|难以)(?=推荐|建议|给出)|不(?!(?:到|看|转)[^{MENTION}])(?={_VERB})|不一定(?:需?要)?"
    rf"|无需(?!{_WORRY})|无须(?!{_WORRY})|勿|未必|没有?必要|别(?=(?:再|急着|先)?{_VERB})"
    rf"|暂(?:时)?不(?:考虑|建议|推荐|需要?|用)?|没有(?:任何|哪一?个|一个)科室(?!比)|不同意|反对|避免|拒绝|(?:缺乏|缺少|没有?|无)(?=[{MENTION}])|排除|除(?!非)了?|非(?=[{MENTION}])|区别于|有别于|与其"
    r"|\b(?:would |do |does |should |is |are |need )?not\b|n't\b|\bno need\b|\brather than\b|\binstead of\b|\bavoid\b"
    rf"|\bexclude\b|\brule out\b){_FILLER}{_VERB}?"
)
_DOUBLE = (
    r"(?:并?不是|绝不是|并非|绝非|没有?)(?:说)?(?:不(?:能|可以?|行|该|应该?|用|需要?|建议|推荐|要|必|[去挂看])|无需|无须)"
    rf"{_FILLER}{_VERB}?|(?:不能|无法|不可|难以|尚不能|不)(?:完全)?排除"
)
_CLAUSE = r"[^,。;!?\n]"
_ADVICE = (
    rf"非(?=[{MENTION}](?:莫属|不可))|不得不|不能不|不可不|不仅|不但|不光|不只|不止|要不(?=去|挂|看|先|到|就|您|你)|[分特]别(?=挂|去|看|建议|推荐|到)"
    rf"|除了?(?={_CLAUSE}{{0,20}},{_CLAUSE}{{0,6}}[还也])|除了?(?={_CLAUSE}{{0,20}},?(?:其他|其它|别的|都|均|全){_CLAUSE}{{0,6}}[不没无])"
)
_CONNECTOR = r"[ ]{0,3}(?:、|/|和|与|及|或者?|跟|&|\+|>|以及|还是|\band\b|\bor\b)?[ ]{0,3}"
_NAME = f"[{MENTION}{FOREIGN}]"
_GROUP = (
    rf"{_NAME}(?:门诊)?(?:{_CONNECTOR}{_NAME}(?:门诊)?)*"
    rf"(?:[ ]?\((?:或者?|和|及|/|、){_NAME}\))?"
)
_CUES = (
    ("mention", _GROUP),
    ("paragraph", r"\n\s*\n"),
    ("sentence", r"[。;!?\n]|\.(?=\s|$)"),
    ("clause", r"[,|]"),
    ("open", r"[(\[]"),
    ("close", r"[)\]]"),
    ("quote", r"\""),
    ("courtesy", _COURTESY),
    ("double", _DOUBLE),
    ("included", r"包括|包含|连同"),
    ("list", r"可选(?:的)?科室|候选(?:的)?科室|科室列表|可供选择|科室选项|从以下|以下科室中|选项(?=:)"),
    ("advice", _ADVICE),
    ("first", r"首选|首诊|优先|最好|最建议|最推荐|更建议|更推荐|更倾向|主要建议"),
    ("whether", r"(?P<asked>[是能要该用对去看可行需])不(?P=asked)|是否|能否|\bwhether\b"),
    ("skip", r"不过|不适(?!合)|不明|不舒服|请问"),
    (
        "history",
        r"起初|最初|一开始|原本|本来|乍看|曾经?|以前|此前|既往|过去|上次|已经?(?=在|去|看|挂)|去年|之前(?=[^,。;!?\n]{0,6}[去看挂在到])",
    ),
    (
        "speech",
        r"(?:您|你|病人|患者|家属)(?:刚才|之前)?(?:提到|说(?!明)|问(?!题)|表示|自述|认为|以为|觉得|担心|要求|希望|想)|想挂|想去|想看"
        r"|有的(?:患者|病人|人)|有些人|很多人|别人|一般人",
    ),
    ("refusal", _REFUSAL),
    ("contrast", r"但是?|然而|可是|而是|而应|实则|\bbut\b|\bhowever\b"),
    ("now", r"其实|实际上|目前|现在|平时|此次|本次|这次|眼下|\bfor now\b|\bcurrently\b"),
    ("condition", _CONDITION),
    ("view", r"我(?:认为|觉得|会)"),
    ("own", r"那就|结合|综合|因此|所以|还是"),
    ("concession", r"虽然?|尽管|虽说|即使|看似|貌似|好像|\balthough\b|\bthough\b"),
    ("comparison", rf"(?:比|相比于?|相较于?|较之?|\bthan )(?=[{MENTION}])|[与和跟](?=[{MENTION}][^,。]{{0,4}}比)"),
    (
        "alternative",
        r"[也还亦]可(?!能)以?|备选|其次|次选|再(?=去|看|挂|到)|然后|另外|同时|还要|还需要?|也行|或者?(?!许)|\b(?:then|also|alternatively)\b",
    ),
    ("permission", r"可以|可(?=挂|去|看|到|选)"),
    ("possible", r"可能|考虑|怀疑|涉及|属于|也许|或许"),
    (
        "advice2",
        r"建议|推荐|应该|应当?|请|务必|最合适的|转至|倾向于?|偏向于?|\brecommend|\bsuggest|\bshould\b|\bplease\b|\brefer\b",
    ),
    ("before", r"先"),
    ("verb", rf"{_VERB}|\b(?:go to|visit|see|consult)\b"),
)
CUE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _CUES), re.MULTILINE)

OWN_ADVICE = re.compile("建议(?:您|你)?(?:挂|去|到|前往)?|推荐|应")
"""Advice that ends what the patient was said to want."""
PART_OF = re.compile(r"(?:门诊|系统|大类|类)?(?:(?:当?中|下属?|下设|里)的?|的)")
"""Between a wider department and the one that is meant: 外科中的骨科."""
OVER = re.compile("后|外")
"""Ends a refusal before the name: 排除心梗后去 X, 除头痛外…去 X."""
LEADS_ON = re.compile(rf"{_FILLER}{_VERB}?")
"""Words between a refusal and the name that it refuses."""

# What stands after a group of mentions, up to the next mention or the end of the clause.
AFTER = re.compile(rf"[^,。;!?\n|{MENTION}{FOREIGN}]{{0,24}}")
ADMITTED_AFTER = re.compile(r"(?:不能|无法|难以|不)(?:完全)?排除")
VERDICT = re.compile(rf"[^;\n{MENTION}{FOREIGN}]{{0,80}}")
"""What an entry "X：…" of a list of options says of it: the rest of its line."""
UNFIT_AFTER = re.compile(
    r"^[ (:]{0,3}是?错(?:误|的|了){0,2}[ )]{0,2}$"
    r"|不(?:太|是很|很|大|够)?(?:合适|适合|对口|对症|对|相关|符合|支持|像|匹配|在(?:推荐|考虑))|(?<!行)不行|(?:可以?|已|能)(?:基本)?排除"
    r"|除外|之外|以外|可能性(?:不大|较小|很小|小|较低|很低|低)|无关|不如|算了|[×✗✘✖❌]|没号|停诊|不是(?:首选|最)"
    r"|\b(?:less likely|unlikely|is not|are not)\b|\bisn't\b"
)
_IS_SAID = r"[ \t\"']{0,3}(?::|→|=|->|\|)[ \t\"']{0,3}"
_SAID_END = r"[ \t\"'}]{0,4}(?=\Z|[,。;\n|])"
NO_AFTER = re.compile(rf"{_IS_SAID}(?:否|不是|不|错误?|no|false|n){_SAID_END}")
YES_AFTER = re.compile(rf"{_IS_SAID}(?:是|对|正确|yes|true|y){_SAID_END}")
"""Verdicts a department: X：否, | X | 是 |, "X": true."""
CROSSED_BEFORE = re.compile(r"(?:\A|[\n,;。])[ \-•]{0,4}[×✗✘✖❌][ ]{0,2}\Z")
NO_EXCEPTION_AFTER = re.compile("[也都]不例外|同样不")
SPARED_AFTER = re.compile("(?:之|以)?外(?=.{0,4}[都均全])")
"""除 X 外都不合适: the words after the name are about the others."""
SECOND_AFTER = re.compile("次之|其次|备选|次选|候补")
UNNEEDED_AFTER = re.compile(
    rf"(?<![需建推])不(?:考虑|建议|推荐|需要|必)|(?<!用)不用(?!{_WORRY})|暂不|(?<![去挂看选])不(?=[去挂看选])|无需|无须|没有?必要"
    r"|\bnot (?:needed|necessary|recommended)"
)
DEFINED_AFTER = re.compile(
    r"(?:门诊|科|医生)?(?:(?:一般|主要|通常|常常?|多|是|专门|也)+(?:负责|诊治|处理|治疗|接诊|针对|看|研究|用于)"
    r"|负责|主治|诊治|专治|医生(?:可能|会))"
)
BEST_AFTER = re.compile(r"(?:更|最)(?:为|加)?(?:合适|适合|恰当|对口|符合|稳妥|佳|好)|优先|首选|为主")
FITS_AFTER = re.compile(
    r"^[ (:]{0,3}是?(?:正确|对)(?:的|了){0,2}[ )]{0,2}$|[✓✔✅☑√]"
    r"|合适|适合|为宜|为佳|稳妥|即可|就行|就好|就可以|就诊|看看|的号|挂号"
)
DOES_AFTER = re.compile(r"可以|[均都也]可|都行|都能|也行|\bwould be\b")
_NUMBER = r"[ \t]{0,4}\(?(?:[0-9]{1,2}[.)、:]?|(?:[一二三四五六七八九十]{1,2}|[a-h]|[ivx]{1,4})[.)、:])[ \t]{0,4}"
"""Numbers a list on one line: 1. X 2. Y, (1) X (2) Y, a) X b) Y; circled digits are folded to bare ones."""
_FIELD = r"[ \t]{1,4}[^\s,。;:!?]{1,8}:"
"""The next field on the same line: 科室1：X 科室2：Y."""
ALONE_BEFORE = re.compile(
    rf"(?:(?:\A|[,|:。;!?\n()\[\]\".<>{{}}$])[ \t#>\-+•·'→={{}}\\0-9一二三四五六七八九十、]{{0,12}}(?:\\text\{{)?"
    rf"|{_NAME}(?:{_NUMBER}))\Z"
)
ALONE_AFTER = re.compile(
    r"(?:门诊部?|就诊|即可|吧|哦|呢)?(?:[ \t'~}$\-]{0,6}(?:\Z|[,|:。;!?\n()\[\]\".<>—])"
    rf"|(?:{_NUMBER}){_NAME}|{_FIELD})"
)
VERB_REACH = 12
"""How many characters a bare verb (去, 挂) may stand before the name it asks for."""
