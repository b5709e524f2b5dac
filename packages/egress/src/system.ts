import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import type { Dial, DialTarget, Resolve } from '@behalf/kernel';
import { abortReason } from '@behalf/kernel';

/** The system resolver including /etc/hosts, the same as for an ordinary connection. */
export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

export function systemLocalAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

interface SystemDialOptions {
  /** PEM certificates to trust instead of the default authorities. */
  ca?: string | readonly string[];
}

/** Opens real sockets, only to IP addresses: a name would be resolved a second time, after the target check. */
export function createSystemDial({ ca }: SystemDialOptions = {}): Dial {
  const trustOptions = ca === undefined ? {} : { ca: [...(typeof ca === 'string' ? [ca] : ca)] };
  return (target, signal) =>
    new Promise((resolve, reject) => {
      if (isIP(target.address) === 0 && target.tunnel === undefined) {
        reject(new TypeError('Only an IP address can be dialed, not a host name'));
        return;
      }
      if (signal.aborted) {
        reject(abortReason(signal));
        return;
      }
      const socket = openSocket(target, target.ca === undefined ? trustOptions : { ca: [target.ca] });
      const onAbort = () => socket.destroy(abortReason(signal));
      signal.addEventListener('abort', onAbort, { once: true });
      socket.once('error', reject);
      socket.once('close', () => {
        signal.removeEventListener('abort', onAbort);
        reject(new Error('The socket closed before it was connected'));
      });
      socket.once(target.tls ? 'secureConnect' : 'connect', () => {
        signal.removeEventListener('abort', onAbort);
        socket.off('error', reject);
        resolve(socket);
      });
    });
}

export const systemDial: Dial = createSystemDial();

function openSocket(
  { address, port, servername, tls, tunnel }: DialTarget,
  trustOptions: { ca?: string[] },
): Socket {
  const socket = tls
    ? connectTls({
        ...trustOptions,
        ...(tunnel === undefined ? { host: address, port } : { socket: tunnel, host: servername }),
        // TLS never sends an IP address as server name (RFC 6066 section 3). The certificate is then checked
        // against `host`.
        ...(isIP(servername) === 0 ? { servername } : {}),
        ALPNProtocols: ['http/1.1'],
      })
    : connectTcp({ host: address, port });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
}
