"""How the page looks: words of its steps, and its style sheet."""

TITLES = ("The values", "The question", "The mechanism", "Try it", "Take it")

STYLE = """
:root { color-scheme: light dark; }
body { --q-primary: #1f5fbf !important; }
@media (prefers-color-scheme: dark) { body { --q-primary: #79b0ff !important; } }
.nicegui-content { padding: 0; }
.bench { max-width: 1120px; width: 100%; margin: 0 auto; padding: 8px 16px 48px; font-size: 16px; line-height: 1.5; }
.bench h1 { font-size: 1.7rem; line-height: 1.2; font-weight: 650; margin: 16px 0 4px; }
.bench h2 { font-size: 1.25rem; line-height: 1.3; font-weight: 650; margin: 28px 0 8px;
  border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding-top: 16px; }
.bench h3 { font-size: 1rem; line-height: 1.4; font-weight: 650; margin: 12px 0 4px; }
.bench .status { font-size: .9rem; opacity: .8; min-height: 1.4em; }
.bench .says { margin: 6px 0; max-width: 75ch; }
.bench .nicegui-row { gap: 12px; align-items: center; flex-wrap: wrap; margin: 8px 0; }
.bench .chart { width: 100%; height: 240px; }
.bench .chart.tall { height: 400px; }
.bench .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 24px; }
.bench .pair > div { min-width: 0; }
.bench .bars { display: flex; justify-content: space-between; height: 130px; max-width: 700px; padding: 8px 12px; }
.bench .bars .q-slider { width: 16px; height: 110px; }
.bench .wide { max-width: 700px; }
.bench .slide { flex-wrap: nowrap !important; }
.bench .slide .q-slider { flex: 1 1 auto; padding: 0 10px; }
.bench .slide .q-field { width: 110px; flex: none; }
.bench .command { font: .9rem/1.5 monospace; overflow-wrap: anywhere; padding: 8px 12px; margin: 4px 0 10px;
  background: color-mix(in srgb, currentColor 8%, transparent); }
.bench a { color: inherit; text-decoration: underline; }
.bench :focus-visible { outline: 3px solid #b35900; outline-offset: 2px; }
@media (max-width: 700px) {
  .bench { padding: 4px 10px 32px; }
  .bench .pair { grid-template-columns: 1fr; gap: 4px; }
  .bench .bars { padding: 8px 2px; }
}
"""
