import {
  AdminUsersView,
  type CredentialView,
  CredentialsView,
  type DiagnosisStep,
  DiagnosisView,
  type ErrorCode,
  ReinitializeView,
} from '@behalf/contracts';
import { CliError, type ExitStatus } from '../cliError.ts';
import type { Command, CommandOutput, Context } from '../command.ts';
import { getExitStatus, serverPath } from '../gateway/gatewayClient.ts';
import { serverArgument } from '../input/sharedInputs.ts';
import { formatCredential, toCredentialJson } from '../output/credential.ts';
import { type Style, stripControls, toCleanLine } from '../output/terminal.ts';

/** How long a server may take to start. */
const TEST_TIMEOUT_MS = 120_000;

export const mcpTest: Command = {
  path: ['mcp', 'test'],
  summary: 'reconnects a server for you and counts its tools',
  arguments: [serverArgument],
  options: [
    {
      name: 'as',
      value: 'USER',
      description:
        'For administrators: diagnoses the server for another user, given by id or email. No credential of that user is sent, and the audit log records the request.',
    },
  ],
  notes: [
    'Prints the duration, your credential (never a token) and the number of tools. --as connects nothing:',
    'it prints the steps of a diagnosis up to the credential, needs a key with the scope admin, and does not include groups that only',
    'a new sign-in of that user would provide.',
  ],
  async run(context) {
    const { input, gateway, io, style, progress } = context;
    const name = input.argument('SERVER');
    const otherUser = input.text('as');
    if (otherUser !== undefined) return diagnoseUser(context, name, otherUser);
    progress(`Connecting ${name} ...`);
    const startedAt = io.now();
    const result = await gateway().request(serverPath(name, 'reinitialize'), ReinitializeView, {
      ...{ method: 'POST', body: {}, timeoutMs: TEST_TIMEOUT_MS },
    });
    const durationMs = io.now() - startedAt;
    const { credentials } = await gateway().request(serverPath(name, 'credentials'), CredentialsView);
    const credential = credentials.find(({ isDefault }) => isDefault) ?? credentials[0];
    const exitStatus = getTestExitStatus(result);
    const { message, code, tools } = result;
    const statusText = exitStatus === 'ok' ? style.good('ok') : style.bad('failed');
    const lines = [
      `${statusText}  ${message} (${durationMs} ms)`,
      ...(tools ? [`tools  ${tools.length}`] : []),
      ...(credential ? [`credential  ${formatCredential(credential, io.now())}`] : []),
      ...(code !== undefined && exitStatus !== 'ok' ? [`code  ${code}`] : []),
      ...(exitStatus === 'signIn' ? [`Sign in with: behalf mcp login ${name}`] : []),
      ...(exitStatus === 'ok' || exitStatus === 'signIn' ? [] : [`See why with: behalf doctor ${name}`]),
    ];
    return {
      exitStatus,
      text: stripControls(`${lines.join('\n')}\n`),
      json: toJson(result, durationMs, credential),
    };
  },
};

function getTestExitStatus({ success, oauthRequired, code }: ReinitializeView): ExitStatus {
  if (oauthRequired) return 'signIn';
  if (success) return 'ok';
  return code === undefined ? 'failed' : getExitStatus(code as ErrorCode);
}

function toJson(
  { serverName, success, message, oauthRequired, code, tools }: ReinitializeView,
  durationMs: number,
  credential: CredentialView | undefined,
) {
  return {
    ...{ serverName, ok: success && !oauthRequired, message, durationMs },
    ...(code !== undefined && { code }),
    tools: tools?.length ?? null,
    credential: credential ? toCredentialJson(credential) : null,
  };
}

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

function getDiagnosisExitStatus({ ok, steps }: DiagnosisView): ExitStatus {
  if (ok) return 'ok';
  const code = steps.find(({ outcome }) => outcome === 'failed')?.code;
  if (code === 'MCP_AUTHORIZATION_REQUIRED') return 'signIn';
  if (code === 'MCP_FORBIDDEN') return 'forbidden';
  return code === 'MCP_SERVER_NOT_FOUND' ? 'absent' : 'failed';
}

/** The conclusion for a user who checks their own access. */
export function formatConclusion({ serverName, ok }: DiagnosisView, style: Style): string {
  return ok
    ? style.good(`Your calls to ${stripControls(serverName)} work.`)
    : style.bad(`Your calls to ${stripControls(serverName)} do not work, or will stop working soon.`);
}

/** One line per step, the action for each failed step, and the conclusion. */
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

/** Text in addition to color. */
const formatMark: Record<DiagnosisStep['outcome'], (style: Style) => string> = {
  ok: ({ good }) => good('ok  '),
  warning: ({ caution }) => caution('note'),
  failed: ({ bad }) => bad('FAIL'),
  skipped: ({ dim }) => dim('-   '),
};

/**
 * Checks the access of another user. The gateway uses none of that user's credentials and records the request in
 * the audit log.
 */
async function diagnoseUser(context: Context, server: string, user: string): Promise<CommandOutput> {
  const { gateway, style, progress } = context;
  const userId = user.includes('@') ? await findUserId(context, user) : user;
  progress(`Diagnosing ${server} for ${user} ...`);
  const view = await gateway().request('/api/admin/credentials/diagnose', DiagnosisView, {
    ...{ method: 'POST', body: { serverName: server, userId } },
  });
  const conclusion = view.ok
    ? style.good(
        stripControls(
          `No problem was found for ${user}, as far as can be checked without acting as this user.`,
        ),
      )
    : style.bad(stripControls(`Calls of ${user} to ${server} do not work, or will stop working soon.`));
  return {
    exitStatus: getDiagnosisExitStatus(view),
    text: `${stripControls(`Diagnosis as ${user} would see it:`)}\n\n${formatChecklist(view, style, true, conclusion)}`,
    json: { as: userId, ...view },
  };
}

async function findUserId({ gateway }: Context, email: string): Promise<string> {
  const path = `/api/admin/users?search=${encodeURIComponent(email)}`;
  const { users } = await gateway().request(path, AdminUsersView);
  const matches = users.filter((user) => user.email.toLowerCase() === email.toLowerCase());
  const [match] = matches;
  // One email address at two identity providers belongs to two accounts. Do not guess.
  if (!match || matches.length > 1) {
    throw new CliError('absent', 'There is not exactly one account with this email in your tenant.', {
      code: 'USER_NOT_FOUND',
      action: 'Use the user ID instead. The web interface shows it under Administration, Users.',
    });
  }
  return match.id;
}
