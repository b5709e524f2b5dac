import { exitCodes } from './cliError.ts';
import type { Command, OptionSpec } from './command.ts';
import { commonOptions } from './parse.ts';

const LINE_WIDTH = 88;

/** The usage text of one command. The documentation contains the same text. */
export function formatCommandHelp(command: Command): string {
  const { path, summary, options, notes } = command;
  const specs = [...options, ...commonOptions];
  return [
    `behalf ${path.join(' ')}: ${summary}`,
    '',
    ...wrapText(`Usage: ${formatUsage(command)}`, 0),
    ...formatSection(
      'Arguments',
      command.arguments.map(({ name, description: about }) => [name, about]),
    ),
    ...formatSection(
      'Options',
      specs.map((spec) => [formatOption(spec), spec.description]),
    ),
    ...(notes.length > 0 ? ['', ...wrapText(notes.join(' '), 0)] : []),
    '',
  ].join('\n');
}

/** Lists all commands or those of a group. */
export function formatOverview(commands: readonly Command[], group: readonly string[] = []): string {
  const shown = commands.filter(({ path }) => group.every((word, index) => path[index] === word));
  return [
    'behalf: servers, sign-ins and tool calls of a Behalf gateway',
    '',
    'Usage: behalf COMMAND [OPTION]...',
    ...formatSection(
      'Commands',
      shown.map(({ path, summary }) => [path.join(' '), summary]),
    ),
    ...formatSection('Environment', [
      ['BEHALF_URL', 'URL of the gateway. Default: http://localhost:3080.'],
      [
        'BEHALF_API_KEY',
        'Your API key: create it in the settings of the web interface, or with POST /api/user/keys.',
      ],
      ['BEHALF_INSECURE', 'true: same as --insecure, for every command.'],
      ['NO_COLOR', 'No colors.'],
    ]),
    ...formatSection(
      'Exit codes',
      Object.values(exitCodes).map(([code, meaning]) => [String(code), meaning]),
    ),
    '',
    'behalf COMMAND --help describes one command.',
    '',
  ].join('\n');
}

function formatUsage({ path, arguments: argumentSpecs, options }: Command): string {
  const parts = [
    ...argumentSpecs.map(({ name, optional = false }) => (optional ? `[${name}]` : name)),
    ...options.map((spec) => `[${formatOption(spec)}]${spec.multiple ? '...' : ''}`),
  ];
  return ['behalf', ...path, ...parts].join(' ');
}

function formatOption({ name, value }: OptionSpec): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

function formatSection(title: string, rows: readonly (readonly [string, string])[]): string[] {
  if (rows.length === 0) return [];
  const columnWidth = Math.max(...rows.map(([name]) => name.length)) + 4;
  return [
    '',
    `${title}:`,
    ...rows.flatMap(([name, about]) => {
      const [first = '', ...otherLines] = wrapText(about, columnWidth);
      return [`  ${name}`.padEnd(columnWidth) + first.slice(columnWidth), ...otherLines];
    }),
  ];
}

/** Wraps text to a maximum line length and indents it. */
function wrapText(text: string, indent: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => ' '.repeat(indent) + one);
}
