import type { Response } from 'express';
import type { Route } from '../http/routes.ts';
import { connectErrorPage, connectSuccessPage } from './resultPages.ts';
import { resultScript } from './resultScript.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Where a sign-in at a server ends, whatever came of it. */
export function resultRoutes(): Route[] {
  const sendPage = (res: Response, html: string) =>
    res
      .set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' })
      .type('html')
      .send(html);
  return [
    {
      method: 'get',
      path: '/oauth/success',
      access: 'public',
      handle: (req, res) => void sendPage(res, connectSuccessPage(req.query)),
    },
    {
      method: 'get',
      path: '/oauth/error',
      access: 'public',
      handle: (req, res) => void sendPage(res, connectErrorPage(req.query)),
    },
    {
      method: 'get',
      path: '/oauth/result.js',
      access: 'public',
      handle: (_req, res) =>
        void res.type('text/javascript').set('Cache-Control', 'public, max-age=3600').send(resultScript),
    },
  ];
}
