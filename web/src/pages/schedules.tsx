import { want } from '@/messages'

export { default } from '@/operate/schedules'

want('pages')
