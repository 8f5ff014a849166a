"""Words that may end with a point without ending the sentence, without case and final point."""

from tributary.text.wordlists import word_set

#: What always goes on: titles before names, "for example", "compare".
NEVER_LAST = word_set(
    """mr mrs ms mx dr prof hon rev sr sra srta ste mme mlle gen col maj capt lt sgt gov sen rep fr hr fru frk
    e.g i.e eg ie cf viz vs approx z.b d.h u.a s.o s.u bzw bspw evtl ggf inkl exkl vgl p.ex t.ex f.eks bijv d.w.z
    cfr np tzn tj bkz örn т.е т.к т.н напр см ср ул просп им проф акад"""
)
#: What goes on when a number follows: references and units of a book.
BEFORE_NUMBER = word_set(
    """no nos nr art p pp pg s fig figs eq eqs sec sect ch chap vol vols ref refs tab tbl abb abs kap bd nº núm pág
    págs cap par blz str rys рис табл стр гл ст п пп"""
)
#: What may stand at the end as well: the next word decides.
SOMETIMES_LAST = word_set(
    """etc inc ltd co corp llc plc bros dept univ assn est jr esq ph.d ed eds al min max hr hrs st ave blvd rd mt ft
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun am pm
    usw etw ff av ecc ss т.д т.п др пр г гг в вв н.э руб тыс млн млрд itd itp"""
)
#: Before these a number with a point counts something: "am 3. Oktober", "den 19. januar".
ORDINAL_CONTEXT = word_set(
    """am im der die das den dem des vom zum zur bis seit ab und ins ans det til fra dne od do"""
)
