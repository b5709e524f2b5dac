import { isLoopbackHost } from '@behalf/contracts';
import type { RemoteTarget } from '../upstream/target.ts';
import { failed, ok, skipped, warning, type Finding } from './checklist.ts';
import type { Case, DiagnoseParts, NetworkProblem } from './parts.ts';

type Parts = Pick<DiagnoseParts, 'network'>;

/** Whether the door out lets a call go there. */
export async function lookAtAddress({ network }: Parts, of: Case, target: RemoteTarget): Promise<Finding> {
  const problem = await network.judge(of.server, target);
  const whose = named(of, target);
  if (problem === 'not_allowed') return failed('MCP_DOMAIN_NOT_ALLOWED', `${whose} may not be called.`);
  if (problem === 'own_address') {
    return failed('MCP_DOMAIN_NOT_ALLOWED', `${whose} is this gateway itself.`, 'Correct the address.');
  }
  return ok(`${whose} may be called.`);
}

/** Whether its name is known. */
export async function lookAtName(
  { network }: Parts,
  of: Case,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<Finding> {
  if ((await network.judge(of.server, target)) !== 'dns') return ok(`${named(of, target)} is known.`);
  // A proxy may know names that we do not.
  if ((await network.connect(target, signal)) === null) {
    return skipped(`${named(of, target)} is known to the proxy alone.`);
  }
  return failed(
    'MCP_UNREACHABLE',
    `${named(of, target)} has no address: its name is not known.`,
    'Check the name of its host.',
  );
}

/** Whether it takes connections, and who vouches for it. */
export async function lookAtSocket(
  { network }: Parts,
  of: Case,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<Finding> {
  const problem = await network.connect(target, signal);
  const whose = named(of, target);
  if (problem !== null) return refusedSocket(problem, whose);
  const { protocol, hostname } = new URL(target.url);
  if (protocol === 'https:' || protocol === 'wss:') {
    return ok(`${whose} takes connections, and its certificate is trusted.`);
  }
  if (isLoopbackHost(hostname)) return ok(`${whose} takes connections, on this machine.`);
  return warning(`${whose} takes connections that anybody on the way can read.`, 'Call it over https.');
}

function refusedSocket(problem: NetworkProblem, whose: string): Finding {
  switch (problem) {
    case 'certificate':
      return failed(
        'MCP_UNREACHABLE',
        `${whose} shows a certificate that is not trusted for it.`,
        'Ask the operator to check it, or to name its authority in caFile.',
      );
    case 'timeout':
      return failed('MCP_TIMEOUT', `${whose} did not accept a connection in time.`);
    case 'proxy':
      return failed(
        'MCP_UNREACHABLE',
        `${whose} cannot be reached through the proxy.`,
        'Ask the operator to check the proxy.',
      );
    case 'not_allowed':
    case 'own_address':
      return failed('MCP_DOMAIN_NOT_ALLOWED', `${whose} may not be called.`);
    default:
      return failed(
        'MCP_UNREACHABLE',
        `${whose} does not accept connections.`,
        'Check that the server runs.',
      );
  }
}

/** The host alone, and only to who may see it: the rest of an address may hold a secret. */
function named({ seesAddresses }: Case, { url }: RemoteTarget): string {
  return seesAddresses ? new URL(url).host : 'The address of the server';
}
