import { CredentialsView, ReinitializeView, type CredentialView, type ErrorCode } from '@behalf/contracts';
import type { Command } from '../command.ts';
import type { Ending } from '../exitCodes.ts';
import { endingOf } from '../gateway/explainProblem.ts';
import { ofServer } from '../gateway/paths.ts';
import { clean } from '../output/clean.ts';
import { credentialLine, shownCredential } from '../output/credential.ts';
import { diagnoseUser } from './diagnoseUser.ts';
import { serverArgument } from './serverArgument.ts';

/** A server may take that long to come up. */
const PATIENCE_MS = 120_000;

export const mcpTest: Command = {
  path: ['mcp', 'test'],
  summary: 'connects a server anew for you and lists its tools',
  arguments: [serverArgument],
  options: [
    {
      name: 'as',
      value: 'USER',
      about:
        'For administrators: why it does or does not work for somebody else, by id or e-mail. Nothing of theirs is presented anywhere, and that you asked is written into the audit.',
    },
  ],
  notes: [
    'Shows how long it took, what is presented in your name (never a token) and how many tools there are. --as connects nothing:',
    'it shows the steps of a diagnosis up to the credential, needs a key with the scope admin, and does not know groups that only',
    'a sign-in of theirs would bring.',
  ],
  async run(context) {
    const { given, gateway, io, style, progress } = context;
    const name = given.argument('SERVER');
    const somebody = given.text('as');
    if (somebody !== undefined) return diagnoseUser(context, name, somebody);
    progress(`Connecting ${name} ...`);
    const begun = io.now();
    const result = await gateway().ask(ofServer(name, 'reinitialize'), ReinitializeView, {
      ...{ method: 'POST', body: {}, patienceMs: PATIENCE_MS },
    });
    const ms = io.now() - begun;
    const { credentials } = await gateway().ask(ofServer(name, 'credentials'), CredentialsView);
    const used = credentials.find(({ isDefault }) => isDefault) ?? credentials[0];
    const ending = endingOfTest(result);
    const { message, code, tools } = result;
    const mark = ending === 'ok' ? style.good('ok') : style.bad('failed');
    const lines = [
      `${mark}  ${message} (${ms} ms)`,
      ...(tools ? [`tools  ${tools.length}`] : []),
      ...(used ? [`credential  ${credentialLine(used, io.now())}`] : []),
      ...(code !== undefined && ending !== 'ok' ? [`code  ${code}`] : []),
      ...(ending === 'signIn' ? [`Sign in with: behalf mcp login ${name}`] : []),
      ...(ending === 'ok' || ending === 'signIn' ? [] : [`See why with: behalf doctor ${name}`]),
    ];
    return { ending, text: clean(`${lines.join('\n')}\n`), json: jsonOf(result, ms, used) };
  },
};

function endingOfTest({ success, oauthRequired, code }: ReinitializeView): Ending {
  if (oauthRequired) return 'signIn';
  if (success) return 'ok';
  return code === undefined ? 'failed' : endingOf(code as ErrorCode);
}

function jsonOf(
  { serverName, success, message, oauthRequired, code, tools }: ReinitializeView,
  durationMs: number,
  credential: CredentialView | undefined,
) {
  return {
    ...{ serverName, ok: success && !oauthRequired, message, durationMs },
    ...(code !== undefined && { code }),
    tools: tools?.length ?? null,
    credential: credential ? shownCredential(credential) : null,
  };
}
