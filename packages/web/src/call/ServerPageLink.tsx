import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { strings } from '../strings/strings.ts';

/** The way to the page of a server, where what is missing can be put right. */
export function ServerPageLink({
  server,
  code,
}: {
  readonly server: string;
  /** Of what went wrong. */
  readonly code: string | undefined;
}) {
  const { setUpServer: values, openServer: toServer } = strings.call;
  return (
    <Link href={`/servers/${encodeSegment(server)}`}>
      {code === 'MCP_USER_VARS_MISSING' ? values : toServer}
    </Link>
  );
}
