//! What a device keeps of one way and one user: a text, and the mark beside it that shows how far the text had come.

use crate::json::Json;
use crate::over_time::Unsent;
use std::collections::BTreeMap;
use std::fmt::Write;

const STATE: &str = "optldp-periods/1";

/// A state. Numbers of periods are from 1 on, 0 for none.
#[derive(Debug, Default)]
pub struct Kept {
    /// How often it was written.
    pub number: u64,
    /// The last period that was asked for.
    pub latest: u64,
    /// Until this period another copy may have sent reports that this one does not hold.
    pub lost: u64,
    /// Where the device drew them.
    pub turns: Option<Vec<u64>>,
    /// What was sent, by period.
    pub reports: BTreeMap<u64, String>,
    /// Of values that are remembered: each one's report by its place; of a history that is summed its values by period.
    pub draws: BTreeMap<u64, String>,
    /// The offset of rounding to knots, over 2^53, once it is drawn.
    pub offset: Option<u64>,
    /// The place that was sent last.
    pub last: Option<u64>,
    /// Of "+" and "-": the value's own when the last block ended, and those that were drawn at first and are not used.
    pub signs: Option<String>,
}

impl Kept {
    /// What a state of an owner says, or nothing yet; what a copy that was further may have sent counts as spent.
    pub fn of(text: Option<&str>, mark: Option<&str>, owner: &str) -> Result<Kept, Unsent> {
        let kept = text.map_or_else(|| Some(Kept::default()), |text| Kept::parse(text, owner));
        let mut kept = kept.ok_or(Unsent::State)?;
        if let Some(mark) = mark {
            let mark = Json::parse(mark).map_err(|_| Unsent::State)?;
            let further = |key| mark.member(key).and_then(count).ok_or(Unsent::State);
            let (number, latest) = (further("number")?, further("latest")?);
            if number > kept.number {
                (kept.number, kept.latest) = (number, kept.latest.max(latest));
                kept.lost = kept.lost.max(latest);
            }
        }
        Ok(kept)
    }

    fn parse(text: &str, owner: &str) -> Option<Kept> {
        let state = Json::parse(text).ok()?;
        let member = |key| state.member(key);
        if !member("format")?.is(STATE) || !member("owner")?.is(owner) {
            return None;
        }
        let optional =
            |key| member(key).map(|value| if *value == Json::Null { Some(None) } else { count(value).map(Some) });
        let turns = match member("turns")? {
            Json::Null => None,
            Json::List(turns) => Some(turns.iter().map(count).collect::<Option<_>>()?),
            _ => return None,
        };
        Some(Kept {
            number: count(member("number")?)?,
            latest: count(member("latest")?)?,
            lost: count(member("lost")?)?,
            turns,
            reports: texts(member("reports")?)?,
            draws: texts(member("draws")?)?,
            offset: optional("offset")??,
            last: optional("last")??,
            signs: match member("signs")? {
                Json::Null => None,
                Json::Text(signs) if signs.bytes().all(|sign| matches!(sign, b'+' | b'-')) => Some(signs.clone()),
                _ => return None,
            },
        })
    }

    /// The text of the state.
    pub fn text(&self, owner: &str) -> String {
        let mut text = format!("{{\"format\": \"{STATE}\", \"owner\": \"{owner}\", ");
        let optional = |number: Option<u64>| number.map_or("null".into(), |number| number.to_string());
        let turns = self.turns.as_ref().map_or("null".into(), |turns| format!("{turns:?}"));
        let (number, latest, lost) = (self.number, self.latest, self.lost);
        let _ = write!(text, "\"number\": {number}, \"latest\": {latest}, \"lost\": {lost}, \"turns\": {turns}, ");
        let _ = write!(text, "\"offset\": {}, \"last\": {}, ", optional(self.offset), optional(self.last));
        let signs = self.signs.as_ref().map_or("null".into(), |signs| format!("\"{signs}\""));
        let _ = write!(text, "\"signs\": {signs}, ");
        write_texts(&mut text, "reports", &self.reports);
        text.push_str(", ");
        write_texts(&mut text, "draws", &self.draws);
        text.push('}');
        text
    }

    /// The text of the mark.
    pub fn mark(&self) -> String {
        format!("{{\"number\": {}, \"latest\": {}}}", self.number, self.latest)
    }
}

fn count(value: &Json) -> Option<u64> {
    match value {
        Json::Number(_, Some(whole)) => u64::try_from(*whole).ok(),
        _ => None,
    }
}

fn texts(value: &Json) -> Option<BTreeMap<u64, String>> {
    let Json::Object(own) = value else {
        return None;
    };
    let entry = |(key, value): (&String, &Json)| match value {
        Json::Text(text) => Some((key.parse().ok()?, text.clone())),
        _ => None,
    };
    own.iter().map(entry).collect()
}

/// Reports have no characters that JSON escapes.
fn write_texts(to: &mut String, name: &str, texts: &BTreeMap<u64, String>) {
    let entries: Vec<String> = texts.iter().map(|(key, text)| format!("\"{key}\": \"{text}\"")).collect();
    let _ = write!(to, "\"{name}\": {{{}}}", entries.join(", "));
}
