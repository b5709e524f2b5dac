import { IdText } from './IdText.tsx';
import { escapeInvisible } from './escapeInvisible.ts';

/** A server by its title, which anybody may choose, and by its name, which no other server has. */
export function ServerIdentity({
  server,
  title,
  className,
}: {
  readonly server: string;
  readonly title: string;
  readonly className?: string | undefined;
}) {
  return (
    <>
      {title !== server && <bdi className={className}>{escapeInvisible(title)}</bdi>} <IdText name={server} />
    </>
  );
}
