import { didYouMean } from '@behalf/contracts';
import { parseArgs } from 'node:util';
import { usageError } from './cliError.ts';
import type { Command, Given, OptionSpec } from './command.ts';

/** Every command takes these. */
export const commonOptions: readonly OptionSpec[] = [
  { name: 'json', about: 'One JSON document on standard output; what goes on meanwhile on standard error.' },
  {
    name: 'url',
    value: 'URL',
    about: 'Where the gateway is. Default: BEHALF_URL, else http://localhost:3080.',
  },
  {
    name: 'insecure',
    about: 'Sends the key over plain http to another machine. Otherwise that is refused.',
  },
  { name: 'help', about: 'This text.' },
];

export type Parsed =
  | { readonly kind: 'help'; readonly command: Command | undefined; readonly group: readonly string[] }
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: Command; readonly given: Given };

/** What the words of a command line mean, or what is wrong with all of them together. */
export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
  const named = commandOf(argv, commands);
  const rest = argv.slice(named?.path.length ?? 0);
  if (!named) {
    if (argv.length === 1 && argv[0] === '--version') return { kind: 'version' };
    const words = wordsOf(argv);
    const isGroup = commands.some(({ path }) => words.every((word, index) => path[index] === word));
    if (argv.length === 0 || (isGroup && (argv.length === words.length || asksForHelp(argv)))) {
      return { kind: 'help', command: undefined, group: words };
    }
    const names = commands.map(({ path }) => path.join(' '));
    const near =
      didYouMean(words.slice(0, 3).join(' '), names) ?? didYouMean(words.slice(0, 2).join(' '), names);
    throw usageError(`There is no command "${words.slice(0, 2).join(' ')}".`, [near ?? 'See behalf --help.']);
  }
  if (asksForHelp(rest)) return { kind: 'help', command: named, group: [] };
  return { kind: 'run', command: named, given: read(named, rest) };
}

/** The longest name that the line begins with. */
function commandOf(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter(({ path }) => path.every((word, index) => argv[index] === word))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

function wordsOf(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-'));
  return end === -1 ? argv : argv.slice(0, end);
}

function asksForHelp(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).some((word) => word === '--help' || word === '-h');
}

function read(command: Command, argv: readonly string[]): Given {
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
      const near = didYouMean(
        token.name,
        specs.map(({ name }) => name),
      );
      problems.push(`${token.rawName} is no option of this command${near === undefined ? '' : `; ${near}`}`);
    } else if (spec.value === undefined) {
      if (token.value === undefined) flags.add(spec.name);
      else problems.push(`--${spec.name} takes no value`);
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      problems.push(`--${spec.name} needs a value: ${spec.value}`);
    } else {
      const before = values.get(spec.name) ?? [];
      if (before.length > 0 && !spec.multiple) problems.push(`--${spec.name} stands there twice`);
      values.set(spec.name, [...before, token.value]);
    }
  }
  const wanted = command.arguments;
  for (const { name, optional = false } of wanted.slice(positionals.length)) {
    if (!optional) problems.push(`${name} is missing`);
  }
  // Not repeated: it may be a secret that does not belong here.
  if (positionals.length > wanted.length) problems.push('there are more words than it takes');
  if (problems.length > 0) {
    throw usageError(`That is not how behalf ${command.path.join(' ')} is called.`, [
      ...problems,
      `See behalf ${command.path.join(' ')} --help.`,
    ]);
  }
  const argument = (name: string) => positionals[wanted.findIndex((one) => one.name === name)];
  return {
    argument: (name) => argument(name) ?? '',
    optional: argument,
    text: (name) => values.get(name)?.[0],
    texts: (name) => values.get(name) ?? [],
    flag: (name) => flags.has(name),
  };
}
