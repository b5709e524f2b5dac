import { CredentialsView, ReinitializeView, type CredentialView, type ErrorCode } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { ExitStatus } from '../exitCodes.ts';
import { getExitStatus } from '../gateway/explainProblem.ts';
import { serverPath } from '../gateway/paths.ts';
import { stripControls } from '../output/stripControls.ts';
import { formatCredential, toCredentialJson } from '../output/credential.ts';
import { diagnoseUser } from './diagnoseUser.ts';
import { serverArgument } from './serverArgument.ts';

/** A server may take that long to come up. */
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
