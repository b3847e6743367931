//! Ranges of releases.

/// The releases a scenario is meaningful on: every comparison of the list must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseRange {
    /// Comparisons such as `>=9.5`; none means every release.
    pub comparisons: Vec<ReleaseComparison>,
}

/// One comparison of a [`ReleaseRange`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseComparison {
    /// How the release compares with the bound.
    pub operator: ReleaseOperator,
    /// The parts of the bound: `[9, 5]`, `[15]`, `[18, 6]`. A release is cut to the same number of
    /// parts before it is compared, so `<=15` holds for 15.18.
    pub bound: Vec<u32>,
}

/// The operator of a [`ReleaseComparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseOperator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=` (also written without an operator)
    Equal,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
}

impl ReleaseRange {
    /// Whether a release, such as `[18, 6]`, lies in the range.
    #[must_use]
    pub fn contains(&self, release: &[u32]) -> bool {
        self.comparisons.iter().all(|comparison| {
            let bound = &comparison.bound;
            let cut = &release[..release.len().min(bound.len())];
            match comparison.operator {
                ReleaseOperator::Less => cut < bound.as_slice(),
                ReleaseOperator::LessOrEqual => cut <= bound.as_slice(),
                ReleaseOperator::Equal => cut == bound.as_slice(),
                ReleaseOperator::GreaterOrEqual => cut >= bound.as_slice(),
                ReleaseOperator::Greater => cut > bound.as_slice(),
            }
        })
    }
}
