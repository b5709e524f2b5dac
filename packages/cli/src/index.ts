export { commands } from './commands/commands.ts';
export { exitCodes } from './exitCodes.ts';
export { commandHelp, overview } from './help.ts';
export { run } from './run.ts';
export type { Io } from './io.ts';
