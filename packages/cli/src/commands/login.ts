import {
  CredentialsView,
  FlowStatusView,
  FlowView,
  type CredentialView,
  type FlowError,
} from '@behalf/contracts';
import { CliError, stopped, usageError } from '../cliError.ts';
import type { Context, OptionSpec, Outcome } from '../command.ts';
import { anything } from '../gateway/anything.ts';
import { GatewayProblem } from '../gateway/explainProblem.ts';
import { ofServer } from '../gateway/paths.ts';
import { clean } from '../output/clean.ts';
import { credentialLine, shownCredential } from '../output/credential.ts';
import { span } from '../output/span.ts';

export const loginOptions: readonly OptionSpec[] = [
  {
    name: 'label',
    value: 'LABEL',
    about: 'Which of several credentials. Default: the one in use, else default.',
  },
  { name: 'no-browser', about: 'Only prints the address.' },
  { name: 'timeout', value: 'SECONDS', about: 'How long to wait. Default: as long as the sign-in is open.' },
];

/** One long look at how it stands. */
const WAIT_MS = 20_000;
/** A gateway that restarts is not an end. */
const MOST_MISSES = 10;
const MISS_MS = 1_000;

interface Started extends FlowView {
  readonly isOurs: boolean;
}

/** One sign-in from its beginning to a token that a server was asked with. */
export async function login(context: Context, server: string): Promise<Outcome> {
  const { given, io, gateway } = context;
  const label = given.text('label');
  const limit = timeoutOf(given.text('timeout'));
  const flow = await start(context, server, label);
  await show(context, server, flow);
  const deadline = Math.min(flow.expiresAt, limit === undefined ? Infinity : io.now() + limit);
  const status = await follow(context, server, flow, deadline);
  if (!status.completed) return failure(server, flow, status.error);
  const { credentials } = await gateway().ask(ofServer(server, 'credentials'), CredentialsView);
  const landed = credentials.find((one) => one.label === flow.label && one.kind === 'oauth_code');
  return success(server, flow, status, landed, io.now());
}

async function start(
  { gateway, progress }: Context,
  server: string,
  label: string | undefined,
): Promise<Started> {
  try {
    const body = label === undefined ? {} : { label };
    return {
      ...(await gateway().ask(ofServer(server, 'oauth/start'), FlowView, { method: 'POST', body })),
      isOurs: true,
    };
  } catch (error) {
    const pending = error instanceof GatewayProblem ? FlowView.safeParse(error.problem) : undefined;
    // One for another credential is somebody's who wants something else.
    if (!pending?.success || (label !== undefined && pending.data.label !== label)) throw error;
    progress('A sign-in there is under way already: going on with it.');
    return { ...pending.data, isOurs: false };
  }
}

async function show(
  { given, io, gateway, progress }: Context,
  server: string,
  { connectUrl }: Started,
): Promise<void> {
  const url = new URL(connectUrl, gateway().url).href;
  io.err(`Sign in at ${clean(server)} here:\n\n  ${clean(url)}\n\n`);
  if (given.flag('no-browser') || !io.isInteractive) return;
  if (await io.openBrowser(url)) progress('It was opened in your browser.');
}

async function follow(
  context: Context,
  server: string,
  { flowId, isOurs }: Started,
  deadline: number,
): Promise<FlowStatusView> {
  const { io, gateway, progress } = context;
  let misses = 0;
  for (;;) {
    const left = deadline - io.now();
    if (left <= 0)
      return { status: 'FAILED', completed: false, failed: true, error: 'expired', expiresAt: deadline };
    progress(`Waiting for the sign-in (${span(left)} left) ...`);
    const wait = Math.max(1, Math.min(WAIT_MS, Math.ceil(left)));
    try {
      const path = `/api/mcp/oauth/status/${encodeURIComponent(flowId)}?wait=${wait}`;
      const status = await gateway().ask(path, FlowStatusView, { patienceMs: wait + 10_000 });
      misses = 0;
      if (status.completed || status.failed) return status;
    } catch (error) {
      if (io.interrupted.aborted) {
        if (isOurs) await cancel(context, server);
        throw stopped();
      }
      misses += 1;
      if (!(error instanceof CliError) || error.ending !== 'unreachable' || misses > MOST_MISSES) throw error;
      await io.sleep(MISS_MS);
    }
  }
}

/** Whoever stops does not want that somebody finishes it later. The sign-in before stays as it is. */
async function cancel({ gateway }: Context, server: string): Promise<void> {
  const path = `/api/mcp/oauth/cancel/${encodeURIComponent(server)}`;
  await gateway()
    .ask(path, anything, { method: 'POST', body: {}, patienceMs: 3_000, isLast: true })
    .catch(() => undefined);
}

const reasons: Partial<Record<FlowError, string>> = {
  access_denied: 'it was denied',
  expired: 'nobody finished it in time',
  cancelled: 'it was cancelled',
  superseded: 'another sign-in was faster',
  config_changed: 'the definition of the server changed meanwhile',
  probe_refused: 'the server refuses the new token',
};

function failure(server: string, { flowId }: Started, error: FlowError = 'callback_failed'): Outcome {
  const why = reasons[error] ?? error.replaceAll('_', ' ');
  return {
    ending: 'failed',
    text: clean(`You are not signed in at ${server}: ${why}. What was there before is unchanged.\n`),
    json: { serverName: server, flowId, signedIn: false, error },
  };
}

function success(
  server: string,
  { flowId }: Started,
  { probe }: FlowStatusView,
  credential: CredentialView | undefined,
  now: number,
): Outcome {
  const isThere = credential?.status === 'active';
  const isProven = probe === 'ok' || probe === 'unverified';
  const said = {
    ok: 'The server answers to the new token.',
    unverified: 'The server also answers without a token, so whether it takes this one cannot be told.',
    unreachable: 'The server did not answer, so whether it takes the token is not known.',
  }[probe ?? 'unreachable'];
  const held = credential ? ` ${credentialLine(credential, now)}.` : '';
  const text = isThere ? `Signed in at ${server}.${held}\n${said}\n` : `No token has landed for ${server}.\n`;
  return {
    ending: isThere && isProven ? 'ok' : 'failed',
    text: clean(text),
    json: {
      ...{ serverName: server, flowId, signedIn: isThere, probe: probe ?? null },
      credential: credential ? shownCredential(credential) : null,
    },
  };
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,5}$/.test(text)) throw usageError('--timeout is a number of seconds.');
  return Number(text) * 1_000;
}
