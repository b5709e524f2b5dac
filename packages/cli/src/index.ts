export { commands } from './commands/commands.ts';
export { exitCodes } from './cliError.ts';
export { formatCommandHelp, formatOverview } from './help.ts';
export { runCli } from './run.ts';
export type { Io } from './io.ts';
