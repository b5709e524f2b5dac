import {
  CredentialsView,
  FlowStatusView,
  FlowView,
  type CredentialView,
  type FlowError,
} from '@behalf/contracts';
import { CliError, createInterruptedError, createUsageError } from '../cliError.ts';
import type { Context, OptionSpec, CommandOutput } from '../command.ts';
import { anySchema } from '../gateway/anySchema.ts';
import { GatewayProblem } from '../gateway/explainProblem.ts';
import { serverPath } from '../gateway/paths.ts';
import { stripControls } from '../output/stripControls.ts';
import { formatCredential, toCredentialJson } from '../output/credential.ts';
import { formatTimeSpan } from '../output/formatTimeSpan.ts';

export const loginOptions: readonly OptionSpec[] = [
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

/** One long look at how it stands. */
const POLL_WAIT_MS = 20_000;
/** A gateway that restarts is not an end. */
const MAX_FAILED_POLLS = 10;
const POLL_RETRY_MS = 1_000;

interface StartedFlow extends FlowView {
  readonly isOwnFlow: boolean;
}

/** One sign-in from its beginning to a token that a server was asked with. */
export async function signIn(context: Context, server: string): Promise<CommandOutput> {
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
    // One for another credential is somebody's who wants something else.
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

/** Whoever stops does not want that somebody finishes it later. The sign-in before stays as it is. */
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
