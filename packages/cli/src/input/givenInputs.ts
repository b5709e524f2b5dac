import { usageError } from '../cliError.ts';
import type { Context, OptionSpec } from '../command.ts';

/** How the inputs of a tool are given, wherever one is run. */
export const inputOptions: readonly OptionSpec[] = [
  {
    name: 'arg',
    value: 'NAME=VALUE',
    multiple: true,
    about:
      'One input, read as the tool declares it: a number, true or false, JSON for lists and objects. Of a list, repeat it.',
  },
  {
    name: 'json-args',
    value: 'JSON',
    about: 'All inputs as one JSON object; --arg is laid over it. "-": from standard input.',
  },
];

export async function jsonArguments({
  given,
  io,
}: Pick<Context, 'given' | 'io'>): Promise<Record<string, unknown>> {
  const text = given.text('json-args');
  if (text === undefined) return {};
  const json = text === '-' ? await io.readStdin() : text;
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Told below.
  }
  throw usageError('--json-args is no JSON object.');
}
