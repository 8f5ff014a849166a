"""Function words of the languages we meet most, folded as `words.py` folds: no case, no diacritics.

A word stands here only when it carries no content in any of these languages: English "die", "war" and "hat",
German "art" or Spanish "once" would lose the meaning of somebody's question. Question words are in: a page
seldom says "what", so a ranking by rarity takes it for the most telling word of the question.
"""

from tributary.text.wordlists import word_set

_ENGLISH = """a an and are as at be been being but by can could did do does doing for from had has have having he
her here hers him his how i if in into is it its itself me might must my myself no nor not of off on
or our ours out over own shall she should so some such than that the their theirs them then there
these they this those through to too under until up us very was we were what when where which while
who whom whose why will with would you your yours don didn doesn isn aren wasn weren won wouldn
couldn shouldn hasn haven hadn about also am any because before between both during each few just
more most only other same please much many let lets"""

_GERMAN = """aber als am an auch auf aus bei beim bis bist da damit dann das dass dein deine dem den
denn der des dessen dich doch du durch ein eine einem einen einer eines er es euch euer fur gegen
haben hatte ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im ist ja jede jedem jeden jeder jedes kann
kein keine keinen konnen mein meine mich mir mit muss nach nicht noch nur ob oder ohne sehr sein
seine seinem seinen seiner seit sich sie sind soll sollte uber um und uns unser unter vom von vor
wann warum welche welchem welchen welcher welches wem wen wenn wer werden wie wieso wieviel wird wir
wo wodurch wofur womit wurde wurden zu zum zur zwischen"""

_FRENCH = """au aux avec ce ces cet cette combien comment dans de des donc du elle elles en est et
etait ete etre eux il ils je la le les leur leurs lui ma mais mes mon ne nos notre nous on ont ou
pas pourquoi quand que quel quelle quelles quels qui quoi sa se ses sont sur ta te tes toi tu un une
vos votre vous qu puis ainsi etaient avait"""

_IBERIAN = """al ante aquel aquella como con cual cuales cuando cuanto cuanta cuantos cuantas de del
desde donde el ella ellas ellos en entre eran es esa ese eso esta estan este esto estos fue fueron
ha la las lo los mas mis muy ni nos o para pero por porque que quien quienes se ser sobre su sus
tambien te tiene tu un una unas uno unos y ya ao aos as da das do dos e ela elas ele eles em foi
foram isso isto mais na nas nao no numa onde ou pela pelas pelo pelos qual quais quando quanto
quantos quem sao sua suas seu seus um uma umas uns voce"""

_ITALIAN = """agli alla alle allo anche chi come cosa da dagli dai dal dalla dalle dei del
dell della delle dello di dove e ed gli ha hanno il in la le lo ma nei nel nella nelle non o per
perche piu quale quali quando quanto quanti quante questa queste questi questo se sono sua sue sugli
sul sulla sulle suo tra un una uno"""

_DUTCH_AND_NORDIC = """aan al als bij dat deze dit een en er haar heeft het hij hoe hoeveel hun ik
je kan maar met mijn naar niet nog om onder ons ook op te tot uit veel voor waar waarom wanneer wat
welke werd wie wordt zich zij zijn zo zou att av blev de den det du eller ett fra har hon hur i inte
jag med mig och pa ska som till vad var vem vilka vilken vilket ar at et hvad hvem hvilke hvilken
hvis hvor hvordan hvorfor ikke jeg og paa sa skal til ved vil"""

_SLAVIC_LATIN = """aby albo bez bo byc byl byla bylo byly co czy dla do gdy gdzie i ich ile jak jaka
jaki jakie jako jej jest jeszcze juz kiedy kto ktora ktore ktory lub ma na nad nie nich o od oraz po
przez przy sa sie ta tak tego tej to tym w we wiec za ze ani az by ja jake jaky je jeho jejich jsem
jsou kde kdo kdy kolik ktera ktere ktery nebo pri sve tato tento vsak"""

_TURKISH_AND_INDONESIAN = """ama bir bu cok da daha de gibi hangi her icin ile ise kac nasil ne
neden nedir nerede o ve veya ya adalah apa apakah atau bagaimana bahwa berapa dalam dari dengan di
itu ini juga kapan karena ke mengapa oleh pada sebagai siapa telah untuk yang"""

_CYRILLIC = """а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да
даже для до его ее если есть еще же за и из или им их к как какая какие каким каких какова каков
какое какой какую когда которая которого которое которой которую которые который которых кто куда ли
мне может мы на над не него нее нет ни них но о об однако он она они оно от очень по под почему при
с сам себя сколько со так также такой там те тем то того тоже той только том тот ты у уже чего чем
через что чтобы чья чье чьи чей эта эти это этого этой этом этот я або але був була були було вiд є
з й кого коли куди ні про та ти хто це ця чи чому що щоб як яка яке який якi які яких"""

_ARABIC = """ان او اي اين الذي التي الي الى اذا بين ثم حتي حتى حول ذلك سوف عن علي على عند في فيه قد
كان كانت كل كم كما كيف لا لم لماذا لن له لها ما ماذا متي متى مع من منذ منها منه هذا هذه هل هم هو هي
و يكون"""

_DEVANAGARI = """और इस इसके इसमें उन उनके उस उसके एक ऐसे कब कर करने का कि किस किसने की के को कौन
क्या क्यों कहाँ कैसे कितने कितना कितनी जब जो तक तो था थी थे द्वारा ने नहीं पर भी में यह या ये रहा वह
वे से हुआ हुई है हैं हो होता होती"""

#: By language, or group of languages that share most of theirs.
BY_LANGUAGE = {
    "english": word_set(_ENGLISH),
    "german": word_set(_GERMAN),
    "french": word_set(_FRENCH),
    "iberian": word_set(_IBERIAN),
    "italian": word_set(_ITALIAN),
    "dutch and nordic": word_set(_DUTCH_AND_NORDIC),
    "west slavic": word_set(_SLAVIC_LATIN),
    "turkish and indonesian": word_set(_TURKISH_AND_INDONESIAN),
    "east slavic": word_set(_CYRILLIC),
    "arabic": word_set(_ARABIC),
    "hindi": word_set(_DEVANAGARI),
}
STOPWORDS = frozenset[str]().union(*BY_LANGUAGE.values())
