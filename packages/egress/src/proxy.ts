import type { Duplex } from 'node:stream';
import { parseUrl } from '@behalf/contracts';
import { type Address, findRange, isInPrefix, parseAddress, parsePrefix } from './address.ts';
import { EgressPolicyError } from './errors.ts';
import { type NetworkTarget, parseHost } from './target.ts';
import type { Audience } from './targetCheck.ts';

/** The proxy for a target, or undefined for a direct connection. */
export type ProxySelector = (target: NetworkTarget) => Proxy | undefined;

/** The proxy variables of the environment. This package never reads `process.env`. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** The kind of the request, and the proxy from the server's definition. */
export interface ProxyPreference {
  readonly audience: Audience;
  readonly configuredProxy: string | undefined;
}

/**
 * Selects the proxy, in this order: the server's own `proxy`, then `PROXY`, then the standard variables with
 * NO_PROXY. As in curl, the lower-case form of a variable takes precedence, and an empty lower-case form disables
 * the upper-case form. Loopback targets are contacted directly: credentials in plain text do not leave the machine
 * then, and for a proxy, loopback is another machine. Only a `proxy` in the server's own definition overrides this,
 * and never for requests with the gateway's own secrets.
 */
export function compileProxySelector(env: ProxyEnvironment): (preference: ProxyPreference) => ProxySelector {
  const proxyVariable = trimToUndefined(env.PROXY);
  const globalProxy = proxyVariable === undefined ? undefined : parseProxy('PROXY', proxyVariable);
  const schemeProxies = {
    http: proxyFromVariables(env, 'http_proxy'),
    https: proxyFromVariables(env, 'https_proxy'),
  };
  const bypassesProxy = compileNoProxy(readVariable(env, 'no_proxy') ?? '');

  function proxyFromEnvironment(target: NetworkTarget): Proxy | undefined {
    if (globalProxy) return globalProxy;
    const proxy = target.tls ? schemeProxies.https : schemeProxies.http;
    return proxy && !bypassesProxy(target) ? proxy : undefined;
  }

  return ({ audience, configuredProxy }) => {
    const serverProxy = configuredProxy === undefined ? undefined : parseProxy('proxy', configuredProxy);
    return (target) => {
      if (isLoopback(target)) return audience === 'identity' ? undefined : serverProxy;
      return serverProxy ?? proxyFromEnvironment(target);
    };
  };
}

/** Decided by the text of the host only, without DNS. */
function isLoopback({ host, ipAddress }: NetworkTarget): boolean {
  if (ipAddress) return findRange(ipAddress)?.name.startsWith('loopback') === true;
  // RFC 6761 section 6.3.
  return host === 'localhost' || host.endsWith('.localhost');
}

function proxyFromVariables(env: ProxyEnvironment, name: string): Proxy | undefined {
  for (const candidate of [name, 'all_proxy']) {
    const value = readVariable(env, candidate);
    if (value !== undefined) return value === '' ? undefined : parseProxy(candidate.toUpperCase(), value);
  }
  return undefined;
}

/** Undefined if neither form is set. An empty lower-case form counts as set. */
function readVariable(env: ProxyEnvironment, name: string): string | undefined {
  return env[name]?.trim() ?? trimToUndefined(env[name.toUpperCase()]);
}

function trimToUndefined(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

type NoProxyRule = (target: NetworkTarget) => boolean;

/**
 * Compiles NO_PROXY: `*`, `host` (including subdomains, as in curl and Go), `.host`, `*.host`, an address, a CIDR
 * block, a range `a-b`, or IPv6 with or without brackets. All except CIDR blocks may have a port. Entries are
 * compared with the host as written, without DNS. Any other entry matches nothing.
 */
export function compileNoProxy(text: string): NoProxyRule {
  const rules = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(compileNoProxyEntry);
  return (target) => rules.some((rule) => rule(target));
}

function compileNoProxyEntry(entry: string): NoProxyRule {
  if (entry === '*') return () => true;

  const prefix = parsePrefix(entry);
  if (prefix) return ({ ipAddress }) => ipAddress !== undefined && isInPrefix(ipAddress, prefix);

  const [low, high, ...extra] = entry.split('-').map(parseAddress);
  if (low && high && extra.length === 0) {
    return ({ ipAddress }) =>
      ipAddress !== undefined &&
      compareAddresses(low, ipAddress) <= 0 &&
      compareAddresses(ipAddress, high) <= 0;
  }

  // Try IPv6 without brackets first: its last group is not a port.
  const address = parseAddress(entry);
  if (address)
    return ({ ipAddress }) => ipAddress !== undefined && compareAddresses(address, ipAddress) === 0;

  const [, rawHost = '', rawPort] = /^(\[[^\]]+\]|[^:]+)(?::([0-9]{1,5}))?$/.exec(entry) ?? [];
  const port = rawPort === undefined ? undefined : Number(rawPort);
  const matchesPort = (target: NetworkTarget) => port === undefined || port === target.port;
  const isSubdomainRule = /^\*?\./.test(rawHost);
  const host = parseHost(rawHost.replace(/^\*?\./, ''));
  if (host === undefined) return () => false;
  const ipAddress = parseAddress(host);
  if (ipAddress) {
    return (target) =>
      target.ipAddress !== undefined &&
      compareAddresses(ipAddress, target.ipAddress) === 0 &&
      matchesPort(target);
  }
  return (target) =>
    matchesPort(target) && (target.host.endsWith(`.${host}`) || (!isSubdomainRule && target.host === host));
}

/** Orders addresses of one family. Addresses of different families are never equal or in one range. */
function compareAddresses(a: Address, b: Address): number {
  if (a.bytes.length !== b.bytes.length) return Number.NaN;
  return Buffer.compare(a.bytes, b.bytes);
}

/** A parsed proxy URL. */
export interface Proxy {
  readonly kind: 'http' | 'https' | 'socks5';
  readonly host: string;
  readonly port: number;
  readonly credentials: { readonly username: string; readonly password: string } | undefined;
}

const PROXY_KINDS: Readonly<Record<string, readonly [kind: Proxy['kind'], port: number]>> = {
  'http:': ['http', 80],
  'https:': ['https', 443],
  'socks:': ['socks5', 1080],
  'socks5:': ['socks5', 1080],
  'socks5h:': ['socks5', 1080],
};

/** `settingName` is the setting or variable that an error message names. */
export function parseProxy(settingName: string, text: string): Proxy {
  // Proxy variables often contain host:port without a scheme.
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = parseUrl(withScheme) && new URL(withScheme);
  const kindAndPort = url && PROXY_KINDS[url.protocol];
  const host = url && parseHost(url.hostname);
  if (!url || !kindAndPort || host === undefined) {
    throw new EgressPolicyError([settingName], 'is not a proxy URL: use http, https or socks5 with a host');
  }
  const [kind, standardPort] = kindAndPort;
  return {
    kind,
    host,
    port: url.port === '' ? standardPort : Number(url.port),
    credentials:
      url.username === '' && url.password === ''
        ? undefined
        : {
            username: decodeCredential(settingName, url.username),
            password: decodeCredential(settingName, url.password),
          },
  };
}

function decodeCredential(settingName: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new EgressPolicyError([settingName], 'has credentials that are not percent-encoded correctly');
  }
}

/** Requests a tunnel to `host:port` from a proxy over an open socket. Throws if the proxy refuses. */
export function openTunnel(socket: Duplex, proxy: Proxy, host: string, port: number): Promise<void> {
  return proxy.kind === 'socks5'
    ? socksConnect(socket, proxy, host, port)
    : httpConnect(socket, proxy, host, port);
}

/** HTTP CONNECT (RFC 9110 section 9.3.6). */
async function httpConnect(
  socket: Duplex,
  { credentials }: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (credentials) {
    const basicCredentials = Buffer.from(`${credentials.username}:${credentials.password}`).toString(
      'base64',
    );
    lines.push(`Proxy-Authorization: Basic ${basicCredentials}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const head = await readBytes(socket, endOfHead, 16_384);
  if (!/^HTTP\/1\.[01] 2[0-9]{2}[ \r]/.test(head.toString('latin1')))
    throw new Error('The proxy refused the connection');
}

function endOfHead(bytes: Buffer): number | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  return headEnd < 0 ? undefined : headEnd + 4;
}

/** SOCKS5 (RFC 1928) with user name and password (RFC 1929). */
async function socksConnect(
  socket: Duplex,
  { credentials }: Proxy,
  host: string,
  port: number,
): Promise<void> {
  const method = credentials ? 2 : 0;
  socket.write(Buffer.from([5, 1, method]));
  const greeting = await readBytes(socket, () => 2, 2);
  if (greeting[0] !== 5 || greeting[1] !== method)
    throw new Error('The proxy requires an unsupported authentication method');
  if (credentials) {
    socket.write(
      Buffer.concat([
        Buffer.from([1]),
        toSocksField(credentials.username),
        toSocksField(credentials.password),
      ]),
    );
    const authResponse = await readBytes(socket, () => 2, 2);
    if (authResponse[1] !== 0) throw new Error('The proxy refused the credentials');
  }
  socket.write(
    Buffer.concat([Buffer.from([5, 1, 0]), socksAddress(host), Buffer.from([port >> 8, port & 0xff])]),
  );
  const connectResponse = await readBytes(socket, socksReplyLength, 262);
  if (connectResponse[0] !== 5 || connectResponse[1] !== 0)
    throw new Error('The proxy refused the connection');
}

function socksAddress(host: string): Buffer {
  const address = parseAddress(host);
  if (!address) return Buffer.concat([Buffer.from([3]), toSocksField(host)]);
  return Buffer.concat([Buffer.from([address.bytes.length === 4 ? 1 : 4]), address.bytes]);
}

function socksReplyLength(bytes: Buffer): number | undefined {
  const [, , , addressType, nameLength] = bytes;
  if (addressType === undefined || nameLength === undefined) return undefined;
  if (addressType === 1) return 10;
  return addressType === 4 ? 22 : 7 + nameLength;
}

function toSocksField(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length === 0 || bytes.length > 255) throw new Error('A SOCKS5 field has 1 to 255 bytes');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

/**
 * Reads from a socket until `findEnd` returns the length of the message. Bytes after the message are put back for
 * the next reader. Used for the short messages of a proxy handshake.
 */
export function readBytes(
  socket: Duplex,
  findEnd: (bytes: Buffer) => number | undefined,
  maxBytes: number,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const finish = (outcome: () => void) => {
      socket.off('readable', onReadable);
      socket.off('error', onEnd);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      outcome();
    };
    const onEnd = () => finish(() => reject(new Error('The proxy closed the connection')));
    const onReadable = () => {
      for (;;) {
        const chunk = socket.read() as Buffer | null;
        if (chunk === null) return;
        bytes = Buffer.concat([bytes, chunk]);
        const length = findEnd(bytes);
        if (length !== undefined && length <= bytes.length) {
          finish(() => {
            if (length < bytes.length) socket.unshift(bytes.subarray(length));
            resolve(bytes.subarray(0, length));
          });
          return;
        }
        if (bytes.length > maxBytes) {
          finish(() => reject(new Error('The proxy response is too large')));
          return;
        }
      }
    };
    socket.on('readable', onReadable);
    socket.on('error', onEnd);
    socket.on('end', onEnd);
    socket.on('close', onEnd);
    if (socket.destroyed) onEnd();
    else onReadable();
  });
}
