import { EgressError, type EgressReason } from '@behalf/egress';
import type { DiagnosisNetwork, NetworkProblem } from '@behalf/gateway';
import type { ReloadableNetwork } from './network.ts';

/** What the door out says, in the words of a diagnosis. Reasons that only an answer can have count as no connection. */
const problems: Partial<Record<EgressReason, NetworkProblem>> = {
  bad_url: 'not_allowed',
  domain_not_allowed: 'not_allowed',
  blocked_name: 'not_allowed',
  private_address: 'not_allowed',
  gateway_address: 'gateway_address',
  dns_failed: 'dns',
  certificate_untrusted: 'certificate',
  proxy_refused: 'proxy',
  connect_timeout: 'timeout',
};

/** The door out as a diagnosis looks through it: the verdicts and the sockets that calls get. */
export function createDiagnosisNetwork(
  egress: Pick<ReloadableNetwork, 'network' | 'oauth'>,
): DiagnosisNetwork {
  async function problemOf(work: Promise<unknown>): Promise<NetworkProblem | null> {
    try {
      await work;
      return null;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return problems[error.reason] ?? 'connection';
    }
  }

  return {
    // It is the server's own address that is looked at.
    checkAddress: (server, { url }) => problemOf(egress.oauth.checkUrl(server, url, [new URL(url).origin])),
    connect: (target, signal) =>
      problemOf(
        egress.network.connectTo(target, signal).then((socket) => {
          // Nothing was said on it, and whatever it still has to say is nobody's.
          socket.on('error', () => undefined).destroy();
        }),
      ),
  };
}
