import { isLoopbackHost } from '@behalf/contracts';
import { credentialHolder } from '../credentials/credentialKeys.ts';
import { needsOAuth, usesObo } from '../servers/definition.ts';
import { renderTarget, withoutCredentials } from '../servers/render.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { type Challenge, UpstreamError } from '../upstream/upstreamError.ts';
import { type StepFinding, failed, ok, skipped, warning } from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext, NetworkProblem } from './diagnose.ts';

export type DiagnosisTarget = RemoteTarget | 'process' | 'not_known';

/**
 * Where calls of this user go, without anything that they present there: no key, no token, no value of theirs but in the address
 * itself. `not_known`: a value in the address is missing, or comes with a chat.
 */
export async function resolveUnauthenticatedTarget(
  { signIn }: Pick<DiagnoseParts, 'signIn'>,
  { server, principal }: DiagnosisContext,
): Promise<DiagnosisTarget> {
  const { settings, audience } = server;
  if (settings.type === 'stdio') return 'process';
  const { apiKey: _key, ...rest } = settings;
  const unauthenticated = withoutCredentials(settings) ?? { ...rest, headers: {} };
  const values = await signIn.servers.readHolderValues(server, principal.tenant, credentialHolder(principal));
  const rendered = renderTarget(unauthenticated, values, { audience, inheritedEnv: {} });
  return rendered.ok && rendered.target.type !== 'stdio' ? rendered.target : 'not_known';
}

type NetworkParts = Pick<DiagnoseParts, 'network'>;

/** Whether the door out lets a call go there. */
export async function checkAddress(
  { network }: NetworkParts,
  context: DiagnosisContext,
  target: RemoteTarget,
): Promise<StepFinding> {
  const problem = await network.checkAddress(context.server, target);
  const label = formatAddress(context, target);
  if (problem === 'not_allowed') return failed('MCP_DOMAIN_NOT_ALLOWED', `${label} is not allowed.`);
  if (problem === 'gateway_address') {
    return failed('MCP_DOMAIN_NOT_ALLOWED', `${label} is this gateway itself.`, 'Correct the address.');
  }
  return ok(`${label} is allowed.`);
}

/** Whether its name is known. */
export async function checkDns(
  { network }: NetworkParts,
  context: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<StepFinding> {
  if ((await network.checkAddress(context.server, target)) !== 'dns')
    return ok(`${formatAddress(context, target)} can be resolved.`);
  // A proxy may know names that we do not.
  if ((await network.connect(target, signal)) === null) {
    return skipped(`${formatAddress(context, target)} can be resolved by the proxy only.`);
  }
  return failed(
    'MCP_UNREACHABLE',
    `${formatAddress(context, target)} cannot be resolved.`,
    'Check the host name.',
  );
}

/** Whether it takes connections, and who vouches for it. */
export async function checkSocket(
  { network }: NetworkParts,
  context: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<StepFinding> {
  const problem = await network.connect(target, signal);
  const label = formatAddress(context, target);
  if (problem !== null) return toSocketFinding(problem, label);
  const { protocol, hostname } = new URL(target.url);
  if (protocol === 'https:' || protocol === 'wss:') {
    return ok(`${label} accepts connections, and its certificate is trusted.`);
  }
  if (isLoopbackHost(hostname)) return ok(`${label} accepts connections on this machine.`);
  return warning(`${label} accepts unencrypted connections.`, 'Use https.');
}

function toSocketFinding(problem: NetworkProblem, label: string): StepFinding {
  switch (problem) {
    case 'certificate':
      return failed(
        'MCP_UNREACHABLE',
        `${label} presents a certificate that is not trusted.`,
        'Ask the operator to check the certificate, or to add its authority to caFile.',
      );
    case 'timeout':
      return failed('MCP_TIMEOUT', `${label} did not accept a connection in time.`);
    case 'proxy':
      return failed(
        'MCP_UNREACHABLE',
        `${label} cannot be reached through the proxy.`,
        'Ask the operator to check the proxy.',
      );
    case 'not_allowed':
    case 'gateway_address':
      return failed('MCP_DOMAIN_NOT_ALLOWED', `${label} is not allowed.`);
    default:
      return failed(
        'MCP_UNREACHABLE',
        `${label} does not accept connections.`,
        'Check that the server runs.',
      );
  }
}

/** The host alone, and only to who may see it: the rest of an address may hold a secret. */
function formatAddress({ canSeeAddresses }: DiagnosisContext, { url }: RemoteTarget): string {
  return canSeeAddresses ? new URL(url).host : 'The address of the server';
}

const CONNECT_TIMEOUT_MS = 5_000;

interface ServerResponseCheck {
  readonly finding: StepFinding;
  /** What it said to who came without a credential. */
  readonly challenge?: Challenge | undefined;
  /** It answers everybody. */
  readonly allowsAnonymous: boolean;
}

/** Whether an MCP server is there. Asked without a credential: what it says then is also how it wants to be asked. */
export async function checkServerResponse(
  { open }: Pick<DiagnoseParts, 'open'>,
  { server }: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<ServerResponseCheck> {
  const { id, settings } = server;
  try {
    const options = {
      server: id,
      owner: undefined,
      era: settings.era,
      initTimeoutMs: CONNECT_TIMEOUT_MS,
      signal,
    };
    const upstream = await open(target, options);
    await upstream.close();
    return {
      finding: ok('The server responds to MCP requests without a credential.'),
      allowsAnonymous: true,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    return {
      finding: toServerResponseFinding(error, server),
      challenge: error.detail.challenge,
      allowsAnonymous: false,
    };
  }
}

function toServerResponseFinding(
  { reason, code, detail }: UpstreamError,
  { settings }: DiagnosisContext['server'],
): StepFinding {
  switch (reason) {
    case 'unauthorized':
      if (!needsOAuth(settings) || usesObo(settings))
        return ok('The server responds and requires a credential.');
      return detail.challenge?.scheme === 'bearer'
        ? ok('The server responds and requires a token.')
        : warning(
            'The server responds with 401 and no Bearer challenge (RFC 6750, section 3).',
            'Tell its maintainers. The gateway looks for the metadata at the well-known address.',
          );
    case 'forbidden':
    case 'insufficient_scope':
      return warning(
        'The server responds with 403 to requests without a credential.',
        'See below whether it accepts your credential.',
      );
    case 'wrong_url':
      return failed(
        code,
        'The server does not respond to MCP requests at this address.',
        'Check url and type of the server.',
      );
    case 'redirected':
      return failed(
        code,
        'The server responds with a redirect, which the gateway does not follow.',
        'Set url to the final address.',
      );
    case 'rate_limited':
      return warning('The server limits the request rate.', 'Try again later.', code);
    case 'upstream_5xx':
      return failed(
        'MCP_UNREACHABLE',
        'The server responds with an internal error (5xx).',
        'Tell its maintainers.',
      );
    case 'timeout':
    case 'connect_timeout':
      return failed('MCP_TIMEOUT', 'The server accepts connections but does not respond.');
    default:
      return failed(code === 'MCP_OUTCOME_UNCERTAIN' ? 'MCP_UNREACHABLE' : code);
  }
}
