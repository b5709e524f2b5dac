import type { UserPrincipal } from '@behalf/gateway';
import { html } from './html.ts';
import { page } from './page.ts';

/** In the place of the interface, where the process was started without building it. */
export function notBuiltPage({ name, email }: Pick<UserPrincipal, 'name' | 'email'>): string {
  return page(
    'The interface is not built',
    html`<h1>The interface is not built</h1>
      <p>You are signed in as ${name} (${email}), and the API works.</p>
      <p>To build the interface, run <code>npm run build</code>, then start the gateway again.</p>
      <form method="post" action="/api/auth/logout">
        <button type="submit" class="quiet">Sign out</button>
      </form>`,
  );
}
