"""The files of an expedition to a glacier: its report as a PDF, a picture of its radar, and a page of field notes.
Small, and sensible to read: what the newcomer's tour shows of the page, it shows by them."""

import io
from collections.abc import Iterator
from math import sin

from PIL import Image, ImageDraw
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import cm
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle
from reportlab.platypus import Image as Figure

from tests.support.files import encoded

TITLE = "The Skarv Glacier Survey"
#: What the tour asks for, in the report's own words, and the page where it stands.
PASSAGE = "At station 3 the radar shows 412 metres of ice, the thickest of the whole survey."
PAGE = 2
NOTES = """Field notes, Tomás Ferreira

11 July. Fog until noon. Stations 1 and 2 are done; the sledge with the radar rides well on the new runners.

12 July. Station 3 was measured twice, because the first run stopped when the battery froze.
I carried the battery inside my jacket for an hour, and the second run was clean.

13 July. Rest day. Amara baked bread on the stove. Nils called from the Fulmar: the bay is free of ice.
"""

_SUMMARY = """
In July 2025 the Nordvik Institute sent four people to Skarv Glacier, to learn how thick its ice is and how fast it
moves. They lived for 23 days at Camp Ravn, a row of tents on the moraine below Mount Ravn. Ingrid Solberg led the
expedition. The research vessel Fulmar brought the party into Teal Bay on 3 July and fetched it on 26 July.

The ice is thinner than the map of 1998 says: by 31 metres on average. Its lower half moves faster than expected,
and Lake Isvann in front of the glacier has doubled in size.
"""
_PARTY = """
Ingrid Solberg works for the Nordvik Institute; she planned the route and kept the log. Tomás Ferreira pulled the
radar over Skarv Glacier and read its echoes. Amara Okafor watched the weather at Camp Ravn, and was the physician
of the party. Nils Brekke is the captain of the Fulmar. He sounded Lake Isvann from a rubber boat while he waited.

The Nordvik Institute lent the radar, the sledge and the tents. Harald Lund, who led the expedition of 1998, taught
the party how to find his old stations, of which brass pins in the rock on both sides are left.
"""
_THICKNESS = f"""
Tomás Ferreira measured the thickness of the ice at six stations along the middle of Skarv Glacier, two kilometres
apart. The radar stood on a sledge of wood and plastic, since metal would have blinded it. It sends a pulse of 25
megahertz into the ice and listens for the echo of the rock below; from the time between the two follows the
thickness, to within two metres.

{PASSAGE} Here the bed of Skarv Glacier lies 96 metres below the level of the sea. Above station 4 the bed rises in
two steps, and at station 6, under Mount Ravn, no more than 118 metres are left.
"""
_MOTION = """
Stakes of ash wood were drilled into the ice at every station and surveyed on the first and on the last day. Ingrid
Solberg compared their places with those of the expedition of 1998, which Harald Lund led for the Nordvik Institute.
The glacier's tongue now flows 164 metres a year, nearly half as fast again as then. In warm afternoons it creaked
so loudly that the tents of Camp Ravn were moved by 80 metres.

The reason is water. After four days of rain the stakes at stations 1 and 2 sped up within a day, and slowed down
again when the streams below the ice had found their way to Lake Isvann.
"""
_LAKE = """
Lake Isvann was sounded by Nils Brekke and Amara Okafor along nine lines. It is 74 metres deep where the ice front
stands in the water, and covers 5.8 square kilometres; on the map of 1998 it covers 2.9. Icebergs as large as
churches were adrift when the Fulmar left Teal Bay.

The wall of gravel that dams the lake is dry on its outer side. Ingrid Solberg sees no danger for the hut in Teal
Bay in the coming years, and asks the Nordvik Institute to look again in 2027.
"""
_WEATHER = """
Amara Okafor read the instruments at Camp Ravn every three hours. The mean of all 23 days was 4.6 °C, and the
strongest gust, on the night of 17 July, came with 31 metres a second. It tore the kitchen tent; bread was baked all
the same.
"""
_WILDLIFE = """
Skuas nested 300 metres from Camp Ravn and learned soon when lunch was served. A fox came every night. On 21 July a
bear was seen across Teal Bay from the deck of the Fulmar; it paid no attention to anybody.
"""
_STATIONS = (
    ("station", "height", "ice in 1998", "ice in 2025", "flow a year"),
    ("1", "142 m", "236 m", "187 m", "164 m"),
    ("2", "215 m", "341 m", "302 m", "151 m"),
    ("3", "316 m", "448 m", "412 m", "122 m"),
    ("4", "388 m", "371 m", "344 m", "96 m"),
    ("5", "452 m", "229 m", "208 m", "71 m"),
    ("6", "540 m", "132 m", "118 m", "38 m"),
)

_INK = colors.HexColor("#1f2a30")
_BLUE = colors.HexColor("#17626b")
_BODY = ParagraphStyle("body", fontName="Times-Roman", fontSize=11.5, leading=16, spaceAfter=8, textColor=_INK)
_HEAD = ParagraphStyle(
    "head", fontName="Helvetica-Bold", fontSize=15, leading=20, spaceBefore=10, spaceAfter=6, textColor=_BLUE
)
_TITLE = ParagraphStyle("title", parent=_HEAD, fontSize=26, leading=32, spaceBefore=0)
_SMALL = ParagraphStyle("small", fontName="Helvetica", fontSize=9, leading=12, spaceAfter=10, textColor=colors.grey)
_CAPTION = ParagraphStyle("caption", parent=_SMALL, alignment=TA_CENTER, spaceBefore=4)


def report() -> bytes:
    """Three pages with a picture, a table and headings."""
    buffer = io.BytesIO()
    margin = 2.4 * cm
    document = SimpleDocTemplate(
        buffer, pagesize=A4, leftMargin=margin, rightMargin=margin, topMargin=margin, title=TITLE, invariant=1
    )
    document.build(list(_story()))
    return buffer.getvalue()


def _story() -> Iterator[Flowable]:
    yield Paragraph(TITLE, _TITLE)
    yield Paragraph("Report of the summer expedition of 2025 to the Nordvik Institute", _SMALL)
    yield from _section("Summary", _SUMMARY)
    yield from _section("The party", _PARTY)
    yield PageBreak()
    yield from _section("How thick the ice is", _THICKNESS)
    yield Figure(io.BytesIO(encoded(radar(), "JPEG", quality=88)), width=12 * cm, height=6.75 * cm)
    yield Paragraph("Figure 1. The radar at station 3 on 12 July, looking up to Mount Ravn", _CAPTION)
    yield _stations()
    yield Spacer(1, 8)
    yield from _section("How fast it moves", _MOTION)
    yield PageBreak()
    yield from _section("The lake", _LAKE)
    yield from _section("The weather", _WEATHER)
    yield from _section("Animals", _WILDLIFE)


def _section(heading: str, text: str) -> Iterator[Flowable]:
    yield Paragraph(heading, _HEAD)
    for paragraph in text.split("\n\n"):
        yield Paragraph(paragraph, _BODY)


def _stations() -> Table:
    look = [
        ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 9.5),
        ("FONT", (0, 1), (-1, -1), "Helvetica", 9.5),
        ("TEXTCOLOR", (0, 0), (-1, -1), _INK),
        ("LINEBELOW", (0, 0), (-1, 0), 1, _BLUE),
        ("LINEBELOW", (0, 1), (-1, -1), 0.3, colors.lightgrey),
        ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
    ]
    return Table(_STATIONS, colWidths=[3.2 * cm] * 5, style=TableStyle(look))


def photo() -> bytes:
    """The radar as somebody else took it: nearer, a little darker, and smaller."""
    whole = radar()
    wide, high = whole.size
    nearer = whole.crop((wide // 12, high // 10, wide - wide // 14, high)).resize((960, 540))
    return encoded(Image.blend(nearer, Image.new("RGB", nearer.size, "black"), 0.08), "JPEG", quality=86)


def radar() -> Image.Image:
    """A person with a sledge and its aerials on the snow, mountains at dusk; drawn twice as large, for smooth edges."""
    width, height = 2560, 1440
    image = Image.new("RGB", (width, height))
    draw = ImageDraw.Draw(image)
    for y in range(height):
        draw.line([(0, y), (width, y)], fill=_between((52, 86, 140), (252, 206, 160), min(1.0, y / 780)))
    draw.ellipse((2010, 400, 2150, 540), fill=(255, 240, 208))
    _ridge(draw, 600, 160, 0.0031, (134, 140, 172))
    _ridge(draw, 720, 170, 0.0047, (96, 108, 146))
    draw.polygon([(760, 960), (1190, 250), (1290, 330), (1720, 960)], fill=(66, 80, 116))
    draw.polygon(
        [(1044, 491), (1190, 250), (1290, 330), (1398, 490), (1290, 440), (1200, 530), (1130, 452)], fill=_SNOW
    )
    _ridge(draw, 1000, 60, 0.0023, (206, 220, 236))
    for number in range(6):
        left, y = 160 + 370 * number, 1010 + 22 * (number % 3)
        draw.line([(left, y), (left + 150, y + 14), (left + 330, y - 6)], fill=(150, 180, 208), width=8)
    draw.polygon([(0, 1120), (900, 1085), (1800, 1110), (2560, 1070), (2560, 1440), (0, 1440)], fill=_SNOW)
    _sledge(draw)
    _person(draw)
    return image.resize((1280, 720), Image.Resampling.LANCZOS)


_SNOW = (240, 244, 250)


def _between(one: tuple[int, int, int], other: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _ridge(draw: ImageDraw.ImageDraw, base: int, high: int, step: float, colour: tuple[int, int, int]) -> None:
    def top(x: int) -> float:
        return base - high * (0.5 + 0.3 * sin(x * step) + 0.2 * sin(x * step * 2.7 + base))

    draw.polygon([(0, 1440), *((x, top(x)) for x in range(0, 2561, 16)), (2560, 1440)], fill=colour)


def _sledge(draw: ImageDraw.ImageDraw) -> None:
    wood, iron = (122, 78, 44), (60, 66, 76)
    draw.line([(1260, 1300), (1330, 1330), (2090, 1330), (2170, 1270)], fill=wood, width=22, joint="curve")
    for x in (1400, 1700, 2000):
        draw.line([(x, 1330), (x, 1240)], fill=wood, width=16)
    draw.rectangle((1350, 1220, 2050, 1244), fill=wood)
    draw.rectangle((1560, 1040, 1840, 1220), fill=(226, 112, 50))
    draw.rectangle((1560, 1040, 1840, 1076), fill=(184, 78, 36))
    draw.rectangle((1610, 1110, 1700, 1170), fill=(38, 48, 58))
    for x in (1420, 1970):
        draw.line([(x, 1220), (x, 800)], fill=iron, width=12)
        for y, half in ((810, 100), (870, 80), (930, 60)):
            draw.line([(x - half, y), (x + half, y)], fill=iron, width=9)
    draw.line([(1420, 1140), (1560, 1100)], fill=iron, width=6)
    draw.line([(1970, 1140), (1840, 1100)], fill=iron, width=6)


def _person(draw: ImageDraw.ImageDraw) -> None:
    draw.line([(1270, 1296), (840, 1180)], fill=(90, 60, 40), width=7)
    for left, right in ((700, 660), (760, 830)):
        draw.line([(730, 1210), (left, 1290), (right, 1368)], fill=(44, 56, 72), width=44, joint="curve")
    draw.rounded_rectangle((670, 1010, 800, 1230), radius=50, fill=(190, 44, 48))
    draw.line([(780, 1070), (850, 1180)], fill=(190, 44, 48), width=40)
    draw.ellipse((690, 920, 790, 1020), fill=(236, 190, 156))
    draw.pieslice((676, 896, 804, 1030), 180, 360, fill=(30, 70, 110))
