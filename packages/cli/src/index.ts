export { commands } from './commands/commands.ts';
export { exitCodes } from './exitCodes.ts';
export { formatCommandHelp, formatOverview } from './help.ts';
export { runCli } from './run.ts';
export type { Io } from './io.ts';
