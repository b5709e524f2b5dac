import type { ArgumentSpec } from '../command.ts';

export const serverArgument: ArgumentSpec = { name: 'SERVER', about: 'The name of the server.' };
