/** What other rooms of this layer may use of scoring: pure functions of statistics. */
export { outageWeeks } from "./outage.ts";
export { fitSbg, projectSbg } from "./sbg.ts";
export { type JudgedChange, judgeChange, type UsualChange } from "./usual.ts";
export { type Interval, wilson } from "./wilson.ts";
