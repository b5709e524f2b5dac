interface ParsedUrl {
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  readonly origin: string;
  readonly href: string;
}

/** Every runtime this code meets (browsers, Node) has it, but no ECMAScript library declares it. */
declare const URL: new (text: string, base?: string) => ParsedUrl;

/**
 * Undefined where the text is no URL. `URL.canParse` cannot be asked: once it is hot, Node.js 20 denies what has a letter between
 * U+0080 and U+00FF, such as a host with an umlaut.
 */
export function parseUrl(text: string, base?: string): ParsedUrl | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** This machine: the host name of a URL, of a `Host` header without its port, or of an address to listen on. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
