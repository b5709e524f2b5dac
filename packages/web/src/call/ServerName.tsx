import { Name } from './Name.tsx';
import { visibleText } from './visibleText.ts';

/** A server by its title, which anybody may choose, and by its name, which no other server has. */
export function ServerName({
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
      {title !== server && <bdi className={className}>{visibleText(title)}</bdi>} <Name name={server} />
    </>
  );
}
