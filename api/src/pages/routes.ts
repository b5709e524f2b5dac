import type { Setup } from '@behalf/gateway';
import type { Route } from '../http/routes.ts';
import { setupPage } from './setupPage.ts';
import { style } from './style.ts';

/** The pages of the gateway itself; the sign-in page stands where the interface would be. */
export function pageRoutes({ setup }: { setup: Pick<Setup, 'isLinkOpen'> }): Route[] {
  return [
    {
      method: 'get',
      path: '/setup',
      access: 'public',
      async handle(req, res) {
        const { token } = req.query;
        const isOpen = typeof token === 'string' && (await setup.isLinkOpen(token));
        res
          .status(isOpen ? 200 : 403)
          .type('html')
          .send(setupPage(isOpen ? { token, email: '', name: '' } : 'closed'));
      },
    },
    {
      method: 'get',
      path: '/style.css',
      access: 'public',
      handle(_req, res) {
        res.type('css').set('Cache-Control', 'public, max-age=3600').send(style);
      },
    },
  ];
}
