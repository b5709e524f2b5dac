import type { ArgumentSpec } from '../command.ts';

export const serverArgument: ArgumentSpec = { name: 'SERVER', description: 'The name of the server.' };
