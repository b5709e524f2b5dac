import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/**
 * The headers of every answer. They are the same for all of them, so helmet is asked once and the hot path pays for
 * writing them alone.
 */
export function securityHeaders(options: { https: boolean }): Record<string, string> {
  const headers: Record<string, string> = { 'Cache-Control': 'no-store' };
  const recorder = {
    setHeader: (name: string, value: string | number) => void (headers[name] = String(value)),
    removeHeader: () => undefined,
  };
  let failure: unknown;
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
    },
    // The setup link holds its secret in the address: no other site is told. Under `no-referrer` a browser would also
    // hide the origin of our own forms from us.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: options.https,
  })({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    failure = error;
  });
  if (failure !== undefined) throw failure as Error;
  return headers;
}

/** Those that say something about an answer that is no document. Each one is written for every call. */
const API_HEADER_NAMES = [
  'Cache-Control',
  // It also says that nobody may frame the answer.
  'Content-Security-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
];

export function apiHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => API_HEADER_NAMES.includes(name)));
}
