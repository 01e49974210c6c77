/** What other rooms of this layer may use of scoring: pure functions of statistics. */
export { fitSbg, projectSbg } from "./sbg.ts";
export { type Interval, wilson } from "./wilson.ts";
