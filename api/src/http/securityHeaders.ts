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

/**
 * What the page of the interface may do; everything else of the answer is as everywhere. Scripts and styles come from us
 * alone and none stands in the page. Pictures and sounds that tools give are data in the page: nothing is fetched from
 * anywhere else for them. No text becomes markup or script: no script may make a policy that would allow it.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Everything a browser offers that the interface has no use for. It writes to the clipboard, and never reads it. */
const disabledFeatures = [
  'accelerometer',
  'browsing-topics',
  'camera',
  'clipboard-read',
  'display-capture',
  'encrypted-media',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'xr-spatial-tracking',
];

export const interfaceHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': disabledFeatures.map((feature) => `${feature}=()`).join(', '),
};
