import { flowChannel } from '@behalf/contracts';

/**
 * Tells the page that opened this window how the sign-in ended, in every way there is: a channel of the origin, the opener where
 * the browser left us one, and a note for who looks later. It says nothing that the address does not; whoever hears it asks the
 * gateway.
 */
export const resultScript = `(() => {
  'use strict';
  const query = new URLSearchParams(location.search);
  const flowId = query.get('flowId') ?? '';
  if (!/^[\\w-]{1,64}$/.test(flowId)) return;
  const ok = location.pathname === '/oauth/success';
  const rawError = query.get('error') ?? '';
  const error = ok ? undefined : /^[a-z_]{1,40}$/.test(rawError) ? rawError : 'callback_failed';
  const message = { type: 'behalf.oauth', flowId, ok, ...(error && { error }) };
  try {
    const channel = new BroadcastChannel('${flowChannel}');
    channel.postMessage(message);
    setTimeout(() => channel.close(), 1000);
  } catch {}
  try {
    localStorage.setItem('${flowChannel}:' + flowId, JSON.stringify(message));
  } catch {}
  try {
    if (window.opener) window.opener.postMessage(message, location.origin);
  } catch {}
  setTimeout(() => window.close(), 1500);
})();
`;
