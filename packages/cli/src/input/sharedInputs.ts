import { createUsageError } from '../cliError.ts';
import type { ArgumentSpec, Context, OptionSpec } from '../command.ts';

export const serverArgument: ArgumentSpec = { name: 'SERVER', description: 'The name of the server.' };

/** Options for the inputs of a tool. */
export const inputOptions: readonly OptionSpec[] = [
  {
    name: 'arg',
    value: 'NAME=VALUE',
    multiple: true,
    description:
      'One input, parsed as the type that the tool declares: a number, true or false, JSON for lists and objects. Repeat it for each entry of a list.',
  },
  {
    name: 'json-args',
    value: 'JSON',
    description: 'All inputs as one JSON object; --arg overrides single inputs. "-": standard input.',
  },
];

export async function readJsonArguments({
  input,
  io,
}: Pick<Context, 'input' | 'io'>): Promise<Record<string, unknown>> {
  const text = input.text('json-args');
  if (text === undefined) return {};
  const json = text === '-' ? await io.readStdin() : text;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw createUsageError('--json-args is not a JSON object.');
}
