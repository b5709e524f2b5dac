import { didYouMean } from '@behalf/contracts';
import { parseArgs } from 'node:util';
import { createUsageError } from './cliError.ts';
import type { Command, ParsedArguments, OptionSpec } from './command.ts';

/** Options of every command. */
export const commonOptions: readonly OptionSpec[] = [
  {
    name: 'json',
    description: 'Prints one JSON document on standard output, and progress on standard error.',
  },
  {
    name: 'url',
    value: 'URL',
    description: 'URL of the gateway. Default: BEHALF_URL, else http://localhost:3080.',
  },
  {
    name: 'insecure',
    description: 'Allows sending the key over plain http to another machine.',
  },
  { name: 'help', description: 'Prints this text.' },
];

export type ParsedCommandLine =
  | { readonly kind: 'help'; readonly command: Command | undefined; readonly group: readonly string[] }
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: Command; readonly input: ParsedArguments };

/** Parses a command line. Reports all problems at once. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): ParsedCommandLine {
  const named = findCommand(argv, commands);
  const rest = argv.slice(named?.path.length ?? 0);
  if (!named) {
    if (argv.length === 1 && argv[0] === '--version') return { kind: 'version' };
    const words = leadingWords(argv);
    const isGroup = commands.some(({ path }) => words.every((word, index) => path[index] === word));
    if (argv.length === 0 || (isGroup && (argv.length === words.length || wantsHelp(argv)))) {
      return { kind: 'help', command: undefined, group: words };
    }
    const names = commands.map(({ path }) => path.join(' '));
    const suggestion =
      didYouMean(words.slice(0, 3).join(' '), names) ?? didYouMean(words.slice(0, 2).join(' '), names);
    throw createUsageError(`There is no command "${words.slice(0, 2).join(' ')}".`, [
      suggestion ?? 'See behalf --help.',
    ]);
  }
  if (wantsHelp(rest)) return { kind: 'help', command: named, group: [] };
  return { kind: 'run', command: named, input: parseCommandArguments(named, rest) };
}

/** The command with the longest matching path. */
function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter(({ path }) => path.every((word, index) => argv[index] === word))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return end === -1 ? argv : argv.slice(0, end);
}

function wantsHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function parseCommandArguments(command: Command, argv: readonly string[]): ParsedArguments {
  const specs = [...command.options, ...commonOptions];
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      specs.map(({ name, value }) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
      ]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values = new Map<string, string[]>();
  const flags = new Set<string>();
  const positionals: string[] = [];
  const problems: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const spec = specs.find(({ name }) => name === token.name);
    if (!spec) {
      const suggestion = didYouMean(
        token.name,
        specs.map(({ name }) => name),
      );
      problems.push(
        `${token.rawName} is not an option of this command${suggestion === undefined ? '' : `; ${suggestion}`}`,
      );
    } else if (spec.value === undefined) {
      if (token.value === undefined) flags.add(spec.name);
      else problems.push(`--${spec.name} takes no value`);
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      problems.push(`--${spec.name} needs a value: ${spec.value}`);
    } else {
      const earlierValues = values.get(spec.name) ?? [];
      if (earlierValues.length > 0 && !spec.multiple) problems.push(`--${spec.name} is given more than once`);
      values.set(spec.name, [...earlierValues, token.value]);
    }
  }
  const argumentSpecs = command.arguments;
  for (const { name, optional = false } of argumentSpecs.slice(positionals.length)) {
    if (!optional) problems.push(`${name} is missing`);
  }
  // The message does not repeat the value, which may be a secret.
  if (positionals.length > argumentSpecs.length) problems.push('there are too many arguments');
  if (problems.length > 0) {
    throw createUsageError(`The arguments of behalf ${command.path.join(' ')} are not valid.`, [
      ...problems,
      `See behalf ${command.path.join(' ')} --help.`,
    ]);
  }
  const argument = (name: string) => positionals[argumentSpecs.findIndex((one) => one.name === name)];
  return {
    argument: (name) => argument(name) ?? '',
    optional: argument,
    text: (name) => values.get(name)?.[0],
    texts: (name) => values.get(name) ?? [],
    flag: (name) => flags.has(name),
  };
}
