import { createEgress, systemDial, systemLocalAddresses, systemResolve, type Egress } from '@behalf/egress';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';

/** The real egress, with access to the upstream on loopback. */
export function createBenchEgress(port: number): Egress {
  return createEgress({
    resolve: systemResolve,
    dial: systemDial,
    clock: systemClock,
    keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
    settings: { operatorAddresses: [`127.0.0.1:${port}`] },
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: systemLocalAddresses }),
    env: {},
  });
}
