import type { Demo } from './startDemo.ts';

/** Three things to try, each with the command as it is typed and what comes back. */
export async function renderDemoInstructions(demo: Demo): Promise<string> {
  const { gateway, idp, caFile, directory } = demo;
  const [ada, uma] = [await demo.tokenFile('ada'), await demo.tokenFile('uma')];
  const renderCall = (tokenFile: string, server: string) =>
    `curl -s -i -X POST ${gateway.url}/api/mcp/servers/${server}/tools/whoami/call \\
       -H "Authorization: Bearer $(cat ${tokenFile})"`;
  const switchesCommand = `curl -s --cacert ${caFile} ${idp.issuer}/dev/switches`;
  return `
Everything runs on this machine and is removed after Ctrl-C. Configuration: ${directory}/librechat.yaml

1. Sign in. Open ${gateway.url}/oauth/openid and choose "Ada Admin". The provider's certificate is new and
   not trusted, so the browser shows a warning. After the sign-in, open ${gateway.url}/api/mcp/tools: it lists the tools
   of both servers, read with your own tokens. No consent page is needed.

2. Call a tool on behalf of a user. The token is issued for the gateway; each server receives an exchanged token:

     ${renderCall(ada, 'mail')}

   "You are Ada Admin (ada). The token is for mail-api: Mail.Read Mail.Send."  (Entra On-Behalf-Of, through MSAL)

     ${renderCall(uma, 'notes')}

   "You are Uma User (uma). The token is for notes-api: notes.read."  (RFC 8693)

3. Let the provider fail. It throttles token requests for Uma only:

     ${switchesCommand} -H 'Content-Type: application/json' \\
       -d '{"kind":"throttle","retryAfterSeconds":5,"user":"uma"}'
     ${renderCall(uma, 'mail')}

   503 with Retry-After: 5, and nothing was sent to the server. Ada's calls still work. Remove the failure:

     ${switchesCommand} -X DELETE

   Five seconds later Uma's call works again.
`;
}
