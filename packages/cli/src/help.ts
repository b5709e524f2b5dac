import { exitCodes } from './exitCodes.ts';
import type { Command, OptionSpec } from './command.ts';
import { commonOptions } from './parse.ts';

const WIDTH = 88;

/** How one command is called. The page about the command holds the same text. */
export function commandHelp(command: Command): string {
  const { path, summary, options, notes } = command;
  const specs = [...options, ...commonOptions];
  return [
    `behalf ${path.join(' ')}: ${summary}`,
    '',
    ...wrapped(`Usage: ${usageOf(command)}`, 0),
    ...section(
      'Arguments',
      command.arguments.map(({ name, about }) => [name, about]),
    ),
    ...section(
      'Options',
      specs.map((spec) => [optionName(spec), spec.about]),
    ),
    ...(notes.length > 0 ? ['', ...wrapped(notes.join(' '), 0)] : []),
    '',
  ].join('\n');
}

/** All commands, or those of one group. */
export function overview(commands: readonly Command[], group: readonly string[] = []): string {
  const shown = commands.filter(({ path }) => group.every((word, index) => path[index] === word));
  return [
    'behalf: servers, sign-ins and tool calls of a Behalf gateway',
    '',
    'Usage: behalf COMMAND [OPTION]...',
    ...section(
      'Commands',
      shown.map(({ path, summary }) => [path.join(' '), summary]),
    ),
    ...section('Environment', [
      ['BEHALF_URL', 'Where the gateway is. Default: http://localhost:3080.'],
      ['BEHALF_API_KEY', 'Your key: made in the settings of the interface, or with POST /api/user/keys.'],
      ['BEHALF_INSECURE', 'true: as --insecure, for every command.'],
      ['NO_COLOR', 'No colours.'],
    ]),
    ...section(
      'Exit codes',
      Object.values(exitCodes).map(([code, meaning]) => [String(code), meaning]),
    ),
    '',
    'behalf COMMAND --help says more about one of them.',
    '',
  ].join('\n');
}

function usageOf({ path, arguments: words, options }: Command): string {
  const parts = [
    ...words.map(({ name, optional = false }) => (optional ? `[${name}]` : name)),
    ...options.map((spec) => `[${optionName(spec)}]${spec.multiple ? '...' : ''}`),
  ];
  return ['behalf', ...path, ...parts].join(' ');
}

function optionName({ name, value }: OptionSpec): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const left = Math.max(...rows.map(([name]) => name.length)) + 4;
  return [
    '',
    `${title}:`,
    ...rows.flatMap(([name, about]) => {
      const [first = '', ...more] = wrapped(about, left);
      return [`  ${name}`.padEnd(left) + first.slice(left), ...more];
    }),
  ];
}

/** Lines of at most so many signs, each indented. */
function wrapped(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => ' '.repeat(indent) + one);
}
