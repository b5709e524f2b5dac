import {
  ConnectionStatusesView,
  type CredentialView,
  CredentialsView,
  DisconnectView,
  type FlowError,
  FlowStatusView,
  FlowView,
  ReauthCampaignView,
} from '@behalf/contracts';
import { CliError, createInterruptedError, createUsageError } from '../cliError.ts';
import type { Command, CommandOutput, Context, OptionSpec } from '../command.ts';
import { GatewayProblem, anySchema, serverPath } from '../gateway/gatewayClient.ts';
import { serverArgument } from '../input/sharedInputs.ts';
import { formatCredential, formatTimeSpan, toCredentialJson } from '../output/credential.ts';
import { stripControls } from '../output/terminal.ts';

const loginOptions: readonly OptionSpec[] = [
  {
    name: 'label',
    value: 'LABEL',
    description: 'Label of the credential. Default: the one in use, else default.',
  },
  { name: 'no-browser', description: 'Prints the URL without opening a browser.' },
  {
    name: 'timeout',
    value: 'SECONDS',
    description: 'Maximum waiting time. Default: until the sign-in expires.',
  },
];

/** Duration of one long-poll request for the status. */
const POLL_WAIT_MS = 20_000;
/** Tolerates a restart of the gateway. */
const MAX_FAILED_POLLS = 10;
const POLL_RETRY_MS = 1_000;

interface StartedFlow extends FlowView {
  readonly isOwnFlow: boolean;
}

/** Runs a sign-in and verifies the new token with a request to the server. */
async function signIn(context: Context, server: string): Promise<CommandOutput> {
  const { input, io, gateway } = context;
  const label = input.text('label');
  const timeoutMs = parseTimeout(input.text('timeout'));
  const flow = await startFlow(context, server, label);
  await showUrl(context, server, flow);
  const deadline = Math.min(flow.expiresAt, timeoutMs === undefined ? Infinity : io.now() + timeoutMs);
  const status = await waitForFlow(context, server, flow, deadline);
  if (!status.completed) return createFailure(server, flow, status.error);
  const { credentials } = await gateway().request(serverPath(server, 'credentials'), CredentialsView);
  const credential = credentials.find(
    (candidate) => candidate.label === flow.label && candidate.kind === 'oauth_code',
  );
  return createSuccess(server, flow, status, credential, io.now());
}

async function startFlow(
  { gateway, progress }: Context,
  server: string,
  label: string | undefined,
): Promise<StartedFlow> {
  try {
    const body = label === undefined ? {} : { label };
    return {
      ...(await gateway().request(serverPath(server, 'oauth/start'), FlowView, { method: 'POST', body })),
      isOwnFlow: true,
    };
  } catch (error) {
    const pending = error instanceof GatewayProblem ? FlowView.safeParse(error.problem) : undefined;
    // A flow for another credential label is a different sign-in.
    if (!pending?.success || (label !== undefined && pending.data.label !== label)) throw error;
    progress('A sign-in at this server is already in progress: continuing it.');
    return { ...pending.data, isOwnFlow: false };
  }
}

async function showUrl(
  { input, io, gateway, progress }: Context,
  server: string,
  { connectUrl }: StartedFlow,
): Promise<void> {
  const url = new URL(connectUrl, gateway().url).href;
  io.err(`Sign in at ${stripControls(server)} here:\n\n  ${stripControls(url)}\n\n`);
  if (input.flag('no-browser') || !io.isInteractive) return;
  if (await io.openBrowser(url)) progress('The page was opened in your browser.');
}

async function waitForFlow(
  context: Context,
  server: string,
  { flowId, isOwnFlow }: StartedFlow,
  deadline: number,
): Promise<FlowStatusView> {
  const { io, gateway, progress } = context;
  let failedPolls = 0;
  for (;;) {
    const remainingMs = deadline - io.now();
    if (remainingMs <= 0)
      return { status: 'FAILED', completed: false, failed: true, error: 'expired', expiresAt: deadline };
    progress(`Waiting for the sign-in (${formatTimeSpan(remainingMs)} left) ...`);
    const wait = Math.max(1, Math.min(POLL_WAIT_MS, Math.ceil(remainingMs)));
    try {
      const path = `/api/mcp/oauth/status/${encodeURIComponent(flowId)}?wait=${wait}`;
      const status = await gateway().request(path, FlowStatusView, { timeoutMs: wait + 10_000 });
      failedPolls = 0;
      if (status.completed || status.failed) return status;
    } catch (error) {
      if (io.interruptSignal.aborted) {
        if (isOwnFlow) await cancelFlow(context, server);
        throw createInterruptedError();
      }
      failedPolls += 1;
      if (
        !(error instanceof CliError) ||
        error.exitStatus !== 'unreachable' ||
        failedPolls > MAX_FAILED_POLLS
      )
        throw error;
      await io.sleep(POLL_RETRY_MS);
    }
  }
}

/** Cancels the flow, so that it cannot be completed later. An earlier sign-in stays valid. */
async function cancelFlow({ gateway }: Context, server: string): Promise<void> {
  const path = `/api/mcp/oauth/cancel/${encodeURIComponent(server)}`;
  await gateway()
    .request(path, anySchema, { method: 'POST', body: {}, timeoutMs: 3_000, ignoresInterrupt: true })
    .catch(() => undefined);
}

const reasons: Partial<Record<FlowError, string>> = {
  access_denied: 'the sign-in was denied',
  expired: 'the sign-in was not finished in time',
  cancelled: 'the sign-in was canceled',
  superseded: 'another sign-in was finished first',
  config_changed: 'the definition of the server was changed in the meantime',
  probe_refused: 'the server rejected the new token',
};

function createFailure(
  server: string,
  { flowId }: StartedFlow,
  error: FlowError = 'callback_failed',
): CommandOutput {
  const reason = reasons[error] ?? error.replaceAll('_', ' ');
  return {
    exitStatus: 'failed',
    text: stripControls(
      `You are not signed in at ${server}: ${reason}. Your previous credential is unchanged.\n`,
    ),
    json: { serverName: server, flowId, signedIn: false, error },
  };
}

function createSuccess(
  server: string,
  { flowId }: StartedFlow,
  { probe }: FlowStatusView,
  credential: CredentialView | undefined,
  now: number,
): CommandOutput {
  const isSignedIn = credential?.status === 'active';
  const isVerified = probe === 'ok' || probe === 'unverified';
  const probeText = {
    ok: 'The server accepts the new token.',
    unverified: 'The server also responds without a token, so this token could not be verified.',
    unreachable: 'The server did not respond, so the token could not be verified.',
  }[probe ?? 'unreachable'];
  const credentialText = credential ? ` ${formatCredential(credential, now)}.` : '';
  const text = isSignedIn
    ? `Signed in at ${server}.${credentialText}\n${probeText}\n`
    : `No token was stored for ${server}.\n`;
  return {
    exitStatus: isSignedIn && isVerified ? 'ok' : 'failed',
    text: stripControls(text),
    json: {
      ...{ serverName: server, flowId, signedIn: isSignedIn, probe: probe ?? null },
      credential: credential ? toCredentialJson(credential) : null,
    },
  };
}

function parseTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw createUsageError('--timeout must be a number of seconds.');
  return Number(text) * 1_000;
}

export const mcpLogin: Command = {
  path: ['mcp', 'login'],
  summary: 'signs you in at a server, in a browser',
  arguments: [serverArgument],
  options: loginOptions,
  notes: [
    'Prints a URL of the gateway and opens it in a browser, if there is one. The URL also works in a browser on another machine',
    'where you are signed in to the gateway. Waits until the token is stored and the server was called with it. A failed',
    'sign-in leaves the previous credential unchanged.',
  ],
  run: async (context) => {
    const { exitStatus, text, json } = await signIn(context, context.input.argument('SERVER'));
    return { exitStatus, text, json };
  },
};

export const mcpReauth: Command = {
  path: ['mcp', 'reauth'],
  summary: 'signs you in again where required, or requires all users to sign in again',
  arguments: [{ name: 'SERVER', description: 'One server. Otherwise use --all.', optional: true }],
  options: [
    { name: 'all', description: 'All servers that require your sign-in, one after the other.' },
    {
      name: 'everybody',
      description: 'For administrators: all users who are signed in at SERVER must sign in again.',
    },
    ...loginOptions,
  ],
  notes: [
    'With --all, a failed sign-in does not stop the others. --everybody needs a key with the scope admin; stored credentials',
    'are kept until the users sign in again.',
  ],
  async run(context) {
    const { input } = context;
    const server = input.optional('SERVER');
    const [isForAllServers, isForAllUsers] = [input.flag('all'), input.flag('everybody')];
    if (isForAllUsers) {
      if (server === undefined || isForAllServers)
        throw createUsageError('--everybody needs the name of one server.');
      return startCampaign(context, server);
    }
    if (isForAllServers === (server !== undefined)) throw createUsageError('Name a server, or use --all.');
    return server === undefined ? signInEverywhere(context) : signIn(context, server);
  },
};

async function startCampaign({ gateway }: Context, serverName: string): Promise<CommandOutput> {
  const { marked } = await gateway().request('/api/admin/credentials/reauth', ReauthCampaignView, {
    ...{ method: 'POST', body: { serverName } },
  });
  const subject = marked === 1 ? 'One sign-in has' : `${marked} sign-ins have`;
  return {
    exitStatus: 'ok',
    text: stripControls(`${subject} to be repeated at ${serverName}.\n`),
    json: { serverName, marked },
  };
}

async function signInEverywhere(context: Context): Promise<CommandOutput> {
  const { connectionStatus } = await context
    .gateway()
    .request('/api/mcp/connection/status', ConnectionStatusesView);
  const servers = Object.entries(connectionStatus)
    .filter(([, { authorizationState }]) => authorizationState === 'needs_authorization')
    .map(([name]) => name)
    .sort();
  const results: { server: string; result: CommandOutput }[] = [];
  for (const [index, server] of servers.entries()) {
    context.progress(`${index + 1} of ${servers.length}: ${server}`);
    results.push({ server, result: await trySignIn(context, server) });
  }
  const hasSucceeded = results.every(({ result }) => result.exitStatus === 'ok');
  return {
    exitStatus: hasSucceeded ? 'ok' : 'failed',
    text:
      results.length === 0
        ? 'No server requires your sign-in.\n'
        : results.map(({ result }) => result.text).join(''),
    json: { servers: results.map(({ result }) => result.json) },
  };
}

/** A failure at one server does not affect the next one. A failure of the caller's own authentication does. */
async function trySignIn(context: Context, server: string): Promise<CommandOutput> {
  try {
    return await signIn(context, server);
  } catch (error) {
    const canContinue =
      error instanceof CliError && !['interrupted', 'unreachable', 'forbidden'].includes(error.exitStatus);
    if (!canContinue) throw error;
    const { message, detail, exitStatus } = error;
    return {
      exitStatus,
      text: stripControls(`You are not signed in at ${server}: ${message}\n`),
      json: { serverName: server, signedIn: false, error: detail.code ?? 'failed' },
    };
  }
}

export const mcpLogout: Command = {
  path: ['mcp', 'logout'],
  summary: 'ends your sign-in at a server and revokes its tokens',
  arguments: [serverArgument],
  options: [{ name: 'label', value: 'LABEL', description: 'Only the credential with this label.' }],
  notes: [
    'The key needs the scope servers. Prints the result of the revocation. Exit code 1: the sign-in ended here, but the',
    'authorization server did not confirm the revocation.',
  ],
  async run({ input, gateway }) {
    const server = input.argument('SERVER');
    const label = input.text('label');
    const view =
      label === undefined
        ? await gateway().request(serverPath(server, 'oauth/disconnect'), DisconnectView, {
            method: 'POST',
            body: {},
          })
        : await gateway().request(
            serverPath(server, `credentials/${encodeURIComponent(label)}`),
            DisconnectView,
            {
              method: 'DELETE',
            },
          );
    return {
      exitStatus: view.revoked === 'failed' ? 'failed' : 'ok',
      text: stripControls(`${formatResult(view, server)}\n`),
      json: { serverName: server, ...view },
    };
  },
};

function formatResult({ disconnected, revoked }: DisconnectView, server: string): string {
  if (!disconnected) return `You were not signed in at ${server}.`;
  const remoteText = {
    yes: 'The authorization server revoked the token.',
    failed: 'The authorization server did not confirm the revocation: revoke the token there if necessary.',
    unsupported:
      'The authorization server does not support revocation: the token stays valid until it expires.',
    none: 'There was nothing to revoke at an authorization server.',
  }[revoked];
  return `Your sign-in at ${server} has ended here. ${remoteText}`;
}
