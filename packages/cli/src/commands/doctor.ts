import { DiagnosisView, type DiagnosisStep } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { ExitStatus } from '../exitCodes.ts';
import { serverPath } from '../gateway/paths.ts';
import { stripControls, toCleanLine } from '../output/stripControls.ts';
import type { Style } from '../output/style.ts';
import { serverArgument } from './serverArgument.ts';

export const doctor: Command = {
  path: ['doctor'],
  summary: 'diagnoses step by step why your calls to a server work or do not work',
  arguments: [serverArgument],
  options: [{ name: 'all', description: 'Also prints the steps that were skipped, with the reason.' }],
  notes: [
    'The gateway runs the diagnosis; it changes nothing and starts no sign-in. Exit code 0: calls work; 5: a sign-in at the server is missing;',
    '4: you do not have permission; 6: the server does not exist or is not shared with you; 1: another problem.',
  ],
  async run({ input, gateway, style, progress }) {
    const name = input.argument('SERVER');
    progress(`Diagnosing ${name} ...`);
    const view = await gateway().request(serverPath(name, 'diagnose'), DiagnosisView, {
      method: 'POST',
      body: {},
    });
    const text = formatChecklist(view, style, input.flag('all'), formatConclusion(view, style));
    return { exitStatus: getDiagnosisExitStatus(view), text, json: view };
  },
};

export function getDiagnosisExitStatus({ ok, steps }: DiagnosisView): ExitStatus {
  if (ok) return 'ok';
  const code = steps.find(({ outcome }) => outcome === 'failed')?.code;
  if (code === 'MCP_AUTHORIZATION_REQUIRED') return 'signIn';
  if (code === 'MCP_FORBIDDEN') return 'forbidden';
  return code === 'MCP_SERVER_NOT_FOUND' ? 'absent' : 'failed';
}

/** In words to who asked for themselves. */
export function formatConclusion({ serverName, ok }: DiagnosisView, style: Style): string {
  return ok
    ? style.good(`Your calls to ${stripControls(serverName)} work.`)
    : style.bad(`Your calls to ${stripControls(serverName)} do not work, or will stop working soon.`);
}

/** A line for each step, what to do below those that need it, and what it comes to. */
export function formatChecklist(
  { steps }: DiagnosisView,
  style: Style,
  showsAll: boolean,
  conclusion: string,
): string {
  const shown = steps.filter(({ outcome }) => showsAll || outcome !== 'skipped');
  const width = Math.max(...shown.map(({ step }) => step.length));
  const lines = shown.flatMap(({ step, outcome, message, action, code }) => [
    `${formatMark[outcome](style)} ${step.padEnd(width)}  ${toCleanLine(message)}${code === undefined ? '' : style.dim(` ${toCleanLine(code)}`)}`,
    ...(action === undefined
      ? []
      : [`${' '.repeat(MARK_WIDTH + 1 + width)}  ${style.bold(toCleanLine(action))}`]),
  ]);
  return [...lines, '', conclusion, ''].join('\n');
}

const MARK_WIDTH = 4;

/** Words and not only colours. */
const formatMark: Record<DiagnosisStep['outcome'], (style: Style) => string> = {
  ok: ({ good }) => good('ok  '),
  warning: ({ caution }) => caution('note'),
  failed: ({ bad }) => bad('FAIL'),
  skipped: ({ dim }) => dim('-   '),
};
