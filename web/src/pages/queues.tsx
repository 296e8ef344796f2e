import { want } from '@/messages'

export { default } from '@/operate/queues'

want('pages')
