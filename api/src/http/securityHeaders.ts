import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';

/** The headers of every response. They are constant, so helmet runs once and not per request. */
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
    // The setup link contains a secret, so no other site receives the referrer. `no-referrer` would also hide the origin of
    // our own forms, which the CSRF check needs.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: options.https,
  })({} as IncomingMessage, recorder as unknown as ServerResponse, (error?: unknown) => {
    failure = error;
  });
  if (failure !== undefined) throw failure as Error;
  return headers;
}

/** The headers that matter for responses that are not documents. Each header costs time on the hot path. */
const API_HEADER_NAMES = [
  'Cache-Control',
  // Contains `frame-ancestors`.
  'Content-Security-Policy',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
];

export function apiHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => API_HEADER_NAMES.includes(name)));
}

/**
 * The policy of the web interface. Scripts and styles come from our origin only; nothing is inline. Images and audio from
 * tool results are embedded as data. Trusted Types without policies prevent DOM XSS.
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

/** Browser features that the interface does not use. It writes to the clipboard but never reads it. */
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
