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

/** Browsers and Node provide it, but no ECMAScript type library declares it. */
declare const URL: new (text: string, base?: string) => ParsedUrl;

/**
 * Undefined if the text is not a URL. Does not use `URL.canParse`: in Node.js 20, its optimized form rejects
 * letters from U+0080 to U+00FF, for example in a host name with an umlaut.
 */
export function parseUrl(text: string, base?: string): ParsedUrl | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Whether a host is this machine: from a URL, a `Host` header without port, or a listen address. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}
