import { isLoopbackHost } from '@behalf/contracts';
import { credentialHolder } from '../principal/credentialHolder.ts';
import { needsOAuth, usesObo } from '../definitions/definition.ts';
import { withProbeConnection } from '../servers/probe.ts';
import { renderTarget, withoutCredentials } from '../definitions/render.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { type Challenge, UpstreamError } from '../upstream/upstreamError.ts';
import {
  type Checklist,
  type StepFinding,
  type StepResult,
  failed,
  ok,
  skipped,
  warning,
} from './checklist.ts';
import type { DiagnoseParts, DiagnosisContext, NetworkProblem } from './diagnose.ts';

/**
 * The target of the user's calls without any credential. Values of the user appear only in the URL. `not_known`: the URL
 * contains a value that is missing or that only a chat request provides.
 */
export async function resolveUnauthenticatedTarget(
  { signIn }: Pick<DiagnoseParts, 'signIn'>,
  { server, principal }: DiagnosisContext,
): Promise<RemoteTarget | 'process' | 'not_known'> {
  const { settings, audience } = server;
  if (settings.type === 'stdio') return 'process';
  const { apiKey: _key, ...rest } = settings;
  const unauthenticated = withoutCredentials(settings) ?? { ...rest, headers: {} };
  const values = await signIn.servers.readHolderValues(server, principal.tenant, credentialHolder(principal));
  const rendered = renderTarget(unauthenticated, values, { audience, inheritedEnv: {} });
  return rendered.ok && rendered.target.type !== 'stdio' ? rendered.target : 'not_known';
}

type NetworkParts = Pick<DiagnoseParts, 'network' | 'open'>;

interface NetworkResult {
  /** The message of the failed step. */
  readonly failure?: string;
  /** The challenge in the response to a request without a credential. */
  readonly challenge?: Challenge | undefined;
  /** The server accepts requests without a credential. */
  readonly allowsAnonymous: boolean;
}

/** Each check with the steps that are skipped if it fails. */
const connectionChecks = [
  ['address', checkAddress, 'dns', 'tls', 'server'],
  ['dns', checkDns, 'tls', 'server'],
  ['tls', checkSocket, 'server'],
] as const;

/** Runs the steps `address`, `dns`, `tls` and `server`. After a failure it skips the remaining steps. */
export async function checkNetwork(
  parts: NetworkParts,
  checklist: Checklist,
  context: DiagnosisContext,
  target: RemoteTarget,
): Promise<NetworkResult> {
  for (const [step, check, ...dependentSteps] of connectionChecks) {
    const { failure } = await checklist.runStep(step, (signal) => check(parts, context, target, signal));
    if (failure === undefined) continue;
    checklist.skipAfter(failure, dependentSteps);
    return { failure, allowsAnonymous: false };
  }
  const { value = { allowsAnonymous: false }, ...server } = await checklist.runStep('server', (signal) =>
    checkServerResponse(parts, context, target, signal),
  );
  return { ...value, ...server };
}

/** Checks the address rules. */
async function checkAddress(
  { network }: NetworkParts,
  context: DiagnosisContext,
  target: RemoteTarget,
): Promise<StepFinding> {
  const problem = await network.checkAddress(context.server, target);
  const label = formatAddress(context, target);
  if (problem === 'not_allowed') return failed('MCP_DOMAIN_NOT_ALLOWED', `${label} is not allowed.`);
  if (problem !== 'gateway_address') return ok(`${label} is allowed.`);
  const message = `${label} is the address of this gateway.`;
  return failed('MCP_DOMAIN_NOT_ALLOWED', message, 'Correct the address.');
}

async function checkDns(
  { network }: NetworkParts,
  context: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<StepFinding> {
  const label = formatAddress(context, target);
  if ((await network.checkAddress(context.server, target)) !== 'dns') return ok(`${label} can be resolved.`);
  // A proxy may resolve names that the gateway cannot resolve.
  return (await network.connect(target, signal)) === null
    ? skipped(`${label} can be resolved by the proxy only.`)
    : failed('MCP_UNREACHABLE', `${label} cannot be resolved.`, 'Check the host name.');
}

/** Opens a connection and checks the certificate. */
async function checkSocket(
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
        'Ask the operator to check the certificate, or to add its certificate authority to caFile.',
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
        'Check that the server is running.',
      );
  }
}

/** Only the host, because the rest of a URL may contain a secret, and only for a caller who may see it. */
function formatAddress({ canSeeAddresses }: DiagnosisContext, { url }: RemoteTarget): string {
  return canSeeAddresses ? new URL(url).host : 'The address of the server';
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Connects without a credential. A 401 shows that an MCP server responds and which credential it requires. */
async function checkServerResponse(
  { open }: NetworkParts,
  { server }: DiagnosisContext,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<StepResult<Omit<NetworkResult, 'failure'>>> {
  try {
    const options = { initTimeoutMs: CONNECT_TIMEOUT_MS, signal };
    await withProbeConnection(open, server, target, options, async () => undefined);
    const finding = ok('The server responds to MCP requests without a credential.');
    return { finding, value: { allowsAnonymous: true } };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { challenge } = error.detail;
    const finding = toServerResponseFinding(error, server);
    return { finding, value: { challenge, allowsAnonymous: false } };
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
