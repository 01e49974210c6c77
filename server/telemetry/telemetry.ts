/** The module's interface: logs and metrics. Commands do without, and so without the packages behind them. */

export { createLogger, type Logger } from "./log.ts";
export { AnswerCounts, createRegistry, gauge } from "./metrics.ts";
