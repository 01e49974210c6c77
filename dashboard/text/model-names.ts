/** The models of churn risk as people meet them: plain words first, the term of statistics beside them. */
export const modelNames = [
  {
    name: "A general assumption",
    term: "prior",
    from: "how people come and go in general, because there is too little of your own data yet",
  },
  { name: "How regularly they come", term: "BG/BB", from: "how regularly people here come back" },
  {
    name: "How regularly they come, corrected",
    term: "BG/BB with Platt calibration",
    from: "how regularly people here come back, corrected by what became of them",
  },
  { name: "What became of others", term: "ridge regression", from: "what became of others like this one" },
] as const;

/** A model's name with its term. @param rung null when none was good enough */
export function namedModel(rung: number | null): string {
  if (rung === null) return "none";
  const model = modelNames[rung];
  return model === undefined ? `model ${rung}` : `${model.name} (${model.term})`;
}
