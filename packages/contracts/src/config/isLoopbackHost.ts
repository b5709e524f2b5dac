const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** This machine: the host name of a URL, of a `Host` header without its port, or of an address to listen on. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
