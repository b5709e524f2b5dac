import { isLoopbackHost } from '@behalf/contracts';
import type { RemoteTarget } from '../upstream/target.ts';
import { failed, ok, skipped, warning, type StepFinding } from './checklist.ts';
import type { DiagnosisContext, DiagnoseParts, NetworkProblem } from './parts.ts';

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
