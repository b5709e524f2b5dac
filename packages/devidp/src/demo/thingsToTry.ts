import type { Demo } from './startDemo.ts';

/** Three things to try, each with the command as it is typed and what comes back. */
export async function thingsToTry(demo: Demo): Promise<string> {
  const { gateway, idp, caFile, directory } = demo;
  const [ada, uma] = [await demo.tokenFile('ada'), await demo.tokenFile('uma')];
  const call = (tokenFile: string, server: string) =>
    `curl -s -i -X POST ${gateway.url}/api/mcp/servers/${server}/tools/whoami/call \\
       -H "Authorization: Bearer $(cat ${tokenFile})"`;
  const switches = `curl -s --cacert ${caFile} ${idp.issuer}/dev/switches`;
  return `
Everything runs on this machine and is gone after Ctrl-C. The configuration: ${directory}/librechat.yaml

1. Sign in. Open ${gateway.url}/oauth/openid and choose "Ada Admin". The provider's certificate was made a
   moment ago, so the browser asks whether to go on. Signed in, open ${gateway.url}/api/mcp/tools: the tools
   of both servers, listed with your own tokens. No consent page was shown, and none will be.

2. Call a tool in somebody's name. The token is one for the gateway; each server sees another one, for itself:

     ${call(ada, 'mail')}

   "You are Ada Admin (ada). The token is for mail-api: Mail.Read Mail.Send."  (Entra's way, through MSAL)

     ${call(uma, 'notes')}

   "You are Uma User (uma). The token is for notes-api: notes.read."  (RFC 8693)

3. Let the provider fail. It asks Uma, and nobody else, to come back later:

     ${switches} -H 'Content-Type: application/json' \\
       -d '{"kind":"throttle","retryAfterSeconds":5,"user":"uma"}'
     ${call(uma, 'mail')}

   503 with Retry-After: 5, and nothing was sent to the server. Ada's calls still work. Switch it off:

     ${switches} -X DELETE

   Five seconds later Uma's call works again.
`;
}
